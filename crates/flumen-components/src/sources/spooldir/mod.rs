//! Reads files that are put into a directory, each once: each line, or what a deserializer makes of them, is an event.
//!
//! Delivery: at least once, and exactly once while the agent is not killed. A position is written when the channels have
//! committed, and a file is done when they have all of it. Several puts are open, also of files that follow each other;
//! files are done in the order in which they were begun.
//! Transient failure (a full channel, a directory or file that cannot be read, a file that cannot be renamed): tried again;
//! a batch after a pause that doubles from 250 ms to `maxBackoff`, with nothing behind it overtaking it; a file at the next
//! look, while the others go on.
//! Permanent failure (a file that was written to while it was read, one whose name was used before, bytes that are no text
//! or no Avro data): the file gets another name, and is named in the log; the others go on.
//! Duplicates: after a kill what was put since the last position, and files that could not be renamed yet.

mod config;
mod disk;
mod file;
mod finish;
mod listing;
mod spool;
#[cfg(test)]
mod tests;
mod tracker;
mod worker;

pub use config::{ConsumeOrder, DecodeErrorPolicy, DeletePolicy, SpooldirConfig, TrackingPolicy};
pub use tracker::read_and_write;

use crate::shared::open_puts::{OpenPuts, Pauses};
use disk::RealDisk;
use file::Ack;
use finish::Finish;
use flumen_core::{
    config::{Settings, Severity},
    event::Text,
    processor::ChannelProcessor,
    registry::{BuildContext, BuildError, DeserializerEntry, Facts, Kind, SourceContext, SourceType},
    serialize::{Most, TextInput},
    source::{Shutdown, Source, SourceError},
};
use listing::{Places, java_path};
use spool::{Setup, Spool};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use worker::{Next, Worker, gone};

/// How long open puts may take to be answered, when the source stops.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// The first pause after a refusal, as in Java.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Bytes of a batch; the event that reaches it is the last.
const MOST_BYTES: usize = 16 << 20;

/// See the module.
#[derive(Debug)]
pub struct SpooldirSource {
    config: SpooldirConfig,
    deserializer: DeserializerEntry,
    settings: Settings,
    context: SourceContext,
}

impl SpooldirSource {
    /// What reads the directory, on this disk.
    fn spool(&self, disk: Box<dyn disk::Disk>, most_events: usize) -> Spool {
        let (config, common) = (&self.config, &self.context.common);
        let spool_dir = java_path(&config.spool_dir);
        let (entry, settings, context) = (self.deserializer, self.settings.clone(), common.clone());
        let places = Places {
            // A path with a root stands for itself.
            tracker_dir: spool_dir.join(java_path(&config.tracker_dir)),
            spool_dir,
            suffix: config.file_suffix.clone().into(),
            tracking: config.tracking_policy,
            order: config.consume_order,
            recursive: config.recursive_directory_search,
            include: config.include_pattern.clone(),
            ignore: config.ignore_pattern.clone(),
        };
        let setup = Setup {
            name: common.name.clone(),
            renames: config.tracking_policy == TrackingPolicy::Rename,
            places,
            finish: Finish { delete: config.delete_policy },
            file_header: config.file_header.then(|| Text::kept(&config.file_header_key)),
            basename_header: config.basename_header.then(|| Text::kept(&config.basename_header_key)),
            most: Most { events: (config.batch_size as usize).min(most_events).max(1), bytes: MOST_BYTES },
            text: TextInput {
                charset: config.input_charset.0.name().to_owned(),
                on_bad: config.decode_error_policy.0,
            },
            poll_delay: config.poll_delay.duration(),
            make: Box::new(move || (entry.build)(&settings, &context)),
            metrics: self.context.metrics.clone(),
        };
        Spool::new(setup, disk)
    }
}

/// Finds the deserializer and checks its settings.
fn deserializer(
    config: &SpooldirConfig,
    context: &BuildContext,
) -> Result<(DeserializerEntry, Settings), BuildError> {
    let name = config.deserializer.trim();
    let Some(entry) = context.registry.find_deserializer(name).copied() else {
        let infos = context.registry.infos(Kind::Deserializer);
        let known: Vec<&str> = infos.iter().map(|info| info.short_name()).collect();
        return Err(BuildError::new(format!(
            "deserializer: there is no deserializer `{name}`; there are: {}",
            known.join(", ")
        )));
    };
    let mut settings = config.deserializer_settings.clone();
    if let Some(length) = config.buffer_max_line_length.filter(|_| entry.info.is_named("LINE")) {
        settings.set("maxLineLength", length.to_string(), None);
    }
    for problem in (entry.check)(&settings).1 {
        match problem.severity {
            Severity::Error => return Err(BuildError::new(problem.to_string())),
            _ => tracing::warn!(source = %context.name, "{problem}"),
        }
    }
    Ok((entry, settings))
}

impl SourceType for SpooldirSource {
    const NAMES: &'static [&'static str] = &["spooldir", "org.apache.flume.source.SpoolDirectorySource"];
    const SUMMARY: &'static str = "Reads files that are put into a directory, each once.";
    type Config = SpooldirConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        if config.spool_dir.trim().is_empty() {
            return Err(BuildError::new("spoolDir: it is empty; give the directory that files are put into"));
        }
        if config.file_suffix.is_empty() {
            return Err(BuildError::new(
                "fileSuffix: it is empty, so that files that are done would not be known; leave the property away",
            ));
        }
        if config.file_suffix.contains('/') {
            return Err(BuildError::new(
                "fileSuffix: it has a slash: files that are done stay in their directory",
            ));
        }
        let (deserializer, settings) = deserializer(&config, &context.common)?;
        Ok(Self { config, deserializer, settings, context: context.clone() })
    }

    fn facts(config: &Self::Config) -> Facts {
        let mut advice = Vec::new();
        if config.buffer_max_line_length.is_some() {
            let what = "it is the old name of `deserializer.maxLineLength`".to_owned();
            advice.push(("bufferMaxLineLength".to_owned(), what));
        }
        Facts {
            batch_size: Some(config.batch_size),
            batch_size_key: "batchSize",
            needed_directories: vec![("spoolDir", java_path(&config.spool_dir))],
            advice,
            ..Facts::default()
        }
    }
}

impl Source for SpooldirSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let name = self.context.common.name.clone();
        let spool = self.spool(Box::new(RealDisk), out.max_batch_events() as usize);
        let worker = Worker::start(&name, spool).await?;
        let longest = self.config.max_backoff.duration();
        let pauses = Pauses { first: FIRST_PAUSE.min(longest), longest };
        let mut puts = OpenPuts::new(name.clone(), out, pauses);
        let ended = tokio::select! {
            biased;
            () = shutdown.requested() => Ok(()),
            ended = self.pump(&worker, &mut puts) => ended,
        };
        if timeout(STOP_LIMIT, puts.finish()).await.is_err() {
            tracing::warn!(source = %name, "stopped without an answer of the channels: the last events will be read again");
        }
        worker.close(puts.take_acks()).await;
        ended
    }
}

impl SpooldirSource {
    /// Reads and puts for ever. What is dropped here was not acknowledged, and is read again.
    async fn pump(&self, worker: &Worker, puts: &mut OpenPuts<Ack>) -> Result<(), SourceError> {
        let pause = self.config.poll_delay.duration();
        loop {
            let next = Next { acks: puts.take_acks(), look: true, now: Instant::now() };
            let mut answer = worker.ask(next).await?.await.map_err(|_| gone())?;
            let mut found = answer.is_some();
            while let Some((batch, ack)) = answer {
                // The next events are read while these are put.
                let next = Next { acks: puts.take_acks(), look: false, now: Instant::now() };
                let next = worker.ask(next).await?;
                puts.put(batch, ack).await;
                answer = next.await.map_err(|_| gone())?;
            }
            while !puts.is_empty() {
                found = true;
                puts.settle_all().await;
            }
            if !found {
                sleep_until(Instant::now() + pause).await;
            }
        }
    }
}
