//! Makes events as fast as channels take them, or so many a second. For measuring and trying out.
//!
//! Delivery: none is promised: what a channel refuses is counted and not offered again; all events are alike.
//! Transient failure: a pause that grows (`backoffSleepIncrement`, `maxBackoffSleep`), then further events.
//! Permanent failure (an event that no channel can hold): as a transient one, with a warning.
//! Duplicates: none from here, as far as equal events can be told apart.

mod config;
mod limiter;
#[cfg(test)]
mod tests;

pub use config::StressConfig;

use flumen_core::{
    event::{Batch, Headers},
    processor::ChannelProcessor,
    registry::{BuildError, Facts, PollSourceType, SourceContext},
    seldom::Seldom,
    source::{PollSource, Polled, SourceError},
};
use limiter::Limiter;
use std::sync::Arc;
use tokio::time::{Instant, sleep};

/// Every byte of a body.
const BYTE: u8 = 0x7f;

/// See the module.
#[derive(Debug)]
pub struct StressSource {
    name: Arc<str>,
    batch_size: u32,
    /// Events of a second, where they are limited; the limiter begins with the first poll.
    per_s: Option<u32>,
    limiter: Option<Limiter>,
    most_total: Option<u64>,
    most_successful: Option<u64>,
    /// Events offered to the channels, and those that all of them took.
    total: u64,
    successful: u64,
    /// The last batch: the next one is mostly the same.
    batch: Batch,
    body: bytes::Bytes,
    refusals: Seldom,
}

impl StressSource {
    /// How many events come next: 0 when there were enough.
    fn next_size(&self, out: &ChannelProcessor) -> u32 {
        let left = |most: Option<u64>, so_far: u64| most.map_or(u64::MAX, |most| most.saturating_sub(so_far));
        let left = left(self.most_total, self.total).min(left(self.most_successful, self.successful));
        let size = self.batch_size.min(out.max_batch_events()).max(1);
        u32::try_from(left).map_or(size, |left| left.min(size))
    }

    /// So many events, all with the same bytes.
    fn next_batch(&mut self, n_events: u32) -> Batch {
        if self.batch.len() != n_events as usize {
            let mut batch = Batch::with_capacity(n_events as usize);
            let set = batch.add_headers(Headers::new());
            let segment = batch.add_segment(self.body.clone());
            for _ in 0..n_events {
                batch.push_slice(set, segment, 0..self.body.len() as u32); // at most 256 MiB
            }
            self.batch = batch;
        }
        self.batch.clone()
    }

    async fn wait_for_permits(&mut self, n_events: u32) {
        let Some(per_s) = self.per_s else { return };
        let now = Instant::now();
        let limiter = self.limiter.get_or_insert_with(|| Limiter::new(per_s, now));
        let wait = limiter.reserve(n_events, now);
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

impl PollSourceType for StressSource {
    const NAMES: &'static [&'static str] = &["org.apache.flume.source.StressSource", "stress"];
    const SUMMARY: &'static str = "Makes events of one size, as many and as fast as is wanted.";
    type Config = StressConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self {
            name: context.common.name.clone(),
            batch_size: config.batch_size,
            per_s: u32::try_from(config.max_events_per_second).ok().filter(|per_s| *per_s > 0),
            limiter: None,
            most_total: u64::try_from(config.max_total_events).ok(),
            most_successful: u64::try_from(config.max_successful_events).ok(),
            total: 0,
            successful: 0,
            batch: Batch::new(),
            body: vec![BYTE; config.size as usize].into(),
            refusals: Seldom::default(),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts { batch_size: Some(config.batch_size), batch_size_key: "batchSize", ..Facts::default() }
    }
}

impl PollSource for StressSource {
    async fn poll(&mut self, out: &ChannelProcessor) -> Result<Polled, SourceError> {
        let n_events = self.next_size(out);
        if n_events == 0 {
            return Ok(Polled::Backoff);
        }
        self.wait_for_permits(n_events).await;
        let batch = self.next_batch(n_events);
        self.total += u64::from(n_events);
        match out.put(batch).await {
            Ok(()) => {
                self.successful += u64::from(n_events);
                Ok(Polled::Ready)
            }
            Err(error) => {
                if let Some(unsaid) = self.refusals.due() {
                    tracing::warn!(source = %self.name, %error, unsaid, "events not put; further ones after a pause");
                }
                Ok(Polled::Backoff)
            }
        }
    }

    async fn close(&mut self) {
        let (total, successful) = (self.total, self.successful);
        tracing::info!(source = %self.name, total, successful, "stopped making events");
    }
}
