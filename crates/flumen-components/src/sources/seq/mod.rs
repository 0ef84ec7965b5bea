//! Counts: each event's body is the next number in decimal digits, from 0. For measuring and trying out.
//!
//! Delivery: every number is put once; a batch that a channel refuses is offered again, and the count goes on behind it.
//! Transient failure: a pause that grows (`backoffSleepIncrement`, `maxBackoffSleep`), then the same numbers again.
//! Permanent failure (a batch that no transaction can hold): as a transient one, with a warning each time.
//! Duplicates: none while it runs; a restarted or reloaded source begins at 0.

mod config;
mod decimal;
#[cfg(test)]
mod tests;

pub use config::SeqConfig;

use decimal::{Decimal, MOST_DIGITS};
use flumen_core::{
    event::{Batch, Headers},
    processor::{ChannelProcessor, PutError},
    registry::{BuildError, Facts, PollSourceType, SourceContext},
    source::{PollSource, Polled, SourceError},
};
use smallvec::SmallVec;
use std::sync::Arc;

/// No batch is larger, whatever `batchSize` says: its bodies share one buffer.
const MOST_EVENTS: u64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub struct SeqSource {
    name: Arc<str>,
    batch_size: u32,
    /// Events still to make.
    left: u64,
    next: Decimal,
    /// A batch that was refused, to be offered before any new one.
    refused: Option<Box<PutError>>,
}

impl SeqSource {
    /// The next numbers, up to `n_events`: one buffer of bodies, one header set.
    fn next_batch(&mut self, n_events: u32) -> Batch {
        let n_events = usize::try_from(u64::from(n_events).min(self.left).min(MOST_EVENTS)).unwrap_or(0);
        // The sum of two numbers has at most one digit more than the longer one.
        let digits_of_n = n_events.checked_ilog10().map_or(1, |log| log as usize + 1);
        let most_digits = self.next.len().max(digits_of_n) + 1;
        let mut bodies = vec![0; n_events * most_digits + MOST_DIGITS];
        let mut end = 0;
        // Numbers of one length in a row: how many, and how long.
        let mut runs: SmallVec<[(usize, u32); 2]> = SmallVec::new();
        for _ in 0..n_events {
            let room = bodies[end..].first_chunk_mut().expect("there is room for the longest number");
            self.next.write(room);
            end += self.next.len();
            let len = self.next.len() as u32; // at most 20
            match runs.last_mut() {
                Some(run) if run.1 == len => run.0 += 1,
                _ => runs.push((1, len)),
            }
            self.next.increment();
        }
        bodies.truncate(end);
        let mut batch = Batch::with_capacity(n_events);
        let segment = batch.add_segment(bodies.into());
        let set = batch.add_headers(Headers::new());
        let mut start = 0;
        for (n, len) in runs {
            batch.push_slices(set, segment, start, std::iter::repeat_n(len, n));
            start += n as u32 * len; // a million numbers of 20 digits at most
        }
        self.left -= n_events as u64;
        batch
    }

    /// Puts the refused batch or the next one. False: there is nothing left to put.
    async fn offer(&mut self, out: &ChannelProcessor) -> Result<bool, PutError> {
        if let Some(refused) = self.refused.take() {
            out.retry(*refused).await?.await?;
            return Ok(true);
        }
        let batch = self.next_batch(self.batch_size.min(out.max_batch_events()).max(1));
        if batch.is_empty() {
            return Ok(false);
        }
        out.put(batch).await?;
        Ok(true)
    }
}

impl PollSourceType for SeqSource {
    const NAMES: &'static [&'static str] = &["seq", "org.apache.flume.source.SequenceGeneratorSource"];
    const SUMMARY: &'static str = "Makes events whose bodies are the numbers from 0.";
    type Config = SeqConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self {
            name: context.common.name.clone(),
            batch_size: config.batch_size,
            left: config.total_events,
            next: Decimal::new(),
            refused: None,
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts { batch_size: Some(config.batch_size), batch_size_key: "batchSize", ..Facts::default() }
    }
}

impl PollSource for SeqSource {
    async fn poll(&mut self, out: &ChannelProcessor) -> Result<Polled, SourceError> {
        match self.offer(out).await {
            Ok(true) => {
                if self.batch_size > 1 {
                    out.metrics().batch_accepted.add(1);
                }
                Ok(Polled::Ready)
            }
            Ok(false) => Ok(Polled::Backoff),
            // Any refusal keeps the source and its number: a fresh one would begin at 0.
            Err(error) => {
                tracing::warn!(source = %self.name, %error, "numbers not put; trying the same again after a pause");
                self.refused = Some(Box::new(error));
                Ok(Polled::Backoff)
            }
        }
    }
}
