//! Tails the files of directories whose names match: each line, or group of lines, is an event.
//!
//! Delivery: at least once, and exactly once while the agent is not killed. Positions are written after the channels have
//! committed, atomically; several puts are open, and positions move over those that succeeded in a row. Renamed, truncated
//! and copied files are recognised by inode, time of birth and content.
//! Transient failure (a full channel, a directory that cannot be read): tried again after a pause that doubles from 1 s to
//! 5 s; nothing behind it overtakes it.
//! Permanent failure (a batch that no transaction can hold, a damaged compressed file): the first as a transient one; of the
//! second what can be unpacked is delivered, and the rest waits until the file changes.
//! Duplicates: after a kill the lines since the last write of positions (`writePosInterval`). Lost: what a writer of
//! `copytruncate` rotation adds between the copy and the truncation, where it was not read before, and what was not read yet
//! of a file that is deleted, or moved to another directory, while it is not open; that is told.

mod config;
mod disk;
mod file;
mod group;
mod hint;
mod lines;
mod mark;
mod packed;
mod positions;
mod tailer;
#[cfg(test)]
mod tests;
mod worker;

pub use config::{MultilineConfig, TaildirConfig};
pub use group::FileGroup;
pub use positions::read_and_write;

use crate::shared::open_puts::{OpenPuts, Pauses};
use disk::{Disk, RealDisk};
use file::Ack;
use flumen_core::{
    event::{Headers, Text},
    processor::ChannelProcessor,
    registry::{BuildError, Facts, SourceContext, SourceType},
    source::{Shutdown, Source, SourceError},
};
use group::Group;
use hint::Hint;
use lines::{Cutter, Multiline};
use std::{path::PathBuf, time::Duration};
use tailer::{Setup, Tailer};
use tokio::{
    pin,
    time::{Instant, sleep_until, timeout},
};
use worker::{Next, SCAN_INTERVAL, Worker, gone};

/// How long open puts may take to be answered, when the source stops.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// The pauses after a refusal, as in Java.
const PAUSES: Pauses = Pauses { first: Duration::from_secs(1), longest: Duration::from_secs(5) };
/// However often something changes, it is looked for it no sooner than so long after the last time,
const LEAST_GAP: Duration = Duration::from_millis(20);
/// and looking takes no more than one part in so many of the time.
const GAP_PARTS: u32 = 20;
const MOST_GAP: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub struct TaildirSource {
    config: TaildirConfig,
    context: SourceContext,
}

impl TaildirSource {
    /// What tails, on this disk.
    fn tailer(&self, disk: Box<dyn Disk>, most_events: usize) -> Tailer {
        let (config, common) = (&self.config, &self.context.common);
        let groups = config.groups.names.iter().filter_map(|name| {
            let files = config.groups.files.get(name)?.clone();
            Some(Group::new(files, self.group_headers(name), config.cache_pattern_matching))
        });
        // No more than memory can address.
        let max_bytes = usize::try_from(config.max_line_length.0).unwrap_or(usize::MAX);
        let multiline = config
            .multiline
            .start
            .clone()
            .map(|start| Multiline { start, max_lines: config.multiline.max_lines as usize });
        let setup = Setup {
            name: common.name.clone(),
            groups: groups.collect(),
            position_file: position_file(&config.position_file, common.environment.home()),
            write_interval: config.write_pos_interval.duration(),
            file_header: config.file_header.then(|| Text::kept(&config.file_header_key)),
            byte_offset_header: config.byte_offset_header,
            skip_to_end: config.skip_to_end,
            idle_timeout: config.idle_timeout.duration(),
            batch_size: (config.batch_size as usize).min(most_events).max(1),
            max_batch_count: config.max_batch_count,
            max_open_files: config.max_open_files as usize,
            decompress: config.decompress,
            cutter: Cutter { max_bytes, multiline },
            multiline_timeout: config.multiline.timeout.duration(),
            clock: common.clock.clone(),
            metrics: self.context.metrics.clone(),
        };
        Tailer::new(setup, disk)
    }

    fn group_headers(&self, group: &str) -> Headers {
        let own = self.config.headers.iter().filter_map(|(key, value)| {
            let header = key.strip_prefix(group)?.strip_prefix('.')?;
            Some((Text::kept(header), Text::kept(value)))
        });
        Headers::from_pairs(own)
    }
}

/// A path of the configuration; `~/` is the home directory.
fn position_file(text: &str, home: &str) -> PathBuf {
    let path = match text.trim().strip_prefix("~/") {
        Some(rest) => PathBuf::from(home).join(rest),
        None => PathBuf::from(text.trim()),
    };
    std::path::absolute(&path).unwrap_or(path)
}

/// Of one content only the last.
fn last_of_each(mut acks: Vec<Ack>) -> Vec<Ack> {
    acks.dedup_by(|later, earlier| {
        let same = (later.key, later.epoch) == (earlier.key, earlier.epoch);
        if same {
            *earlier = *later;
        }
        same
    });
    acks
}

impl SourceType for TaildirSource {
    const NAMES: &'static [&'static str] = &["taildir", "org.apache.flume.source.taildir.TaildirSource"];
    const SUMMARY: &'static str = "Tails files whose names match, over rotations and restarts.";
    type Config = TaildirConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        if config.groups.names.is_empty() {
            return Err(BuildError::new(
                "filegroups: it is empty; name a group, and give its files in filegroups.<name>",
            ));
        }
        if config.position_file.trim().is_empty() {
            return Err(BuildError::new(
                "positionFile: it is empty; give a file to write, or leave the property away",
            ));
        }
        if config.groups.files.is_empty() {
            return Err(BuildError::new(format!(
                "filegroups: no group has files; give filegroups.{} = <directory>/<regular expression>",
                config.groups.names[0]
            )));
        }
        Ok(Self { config, context: context.clone() })
    }

    fn facts(config: &Self::Config) -> Facts {
        let mut advice = Vec::new();
        for group in config.groups.names.iter().filter(|group| !config.groups.files.contains_key(*group)) {
            let what = format!("group `{group}` has no files, and is ignored: set filegroups.{group}");
            advice.push(("filegroups".to_owned(), what));
        }
        for key in config.headers.keys() {
            let is_of =
                |group: &String| key.strip_prefix(group.as_str()).is_some_and(|rest| rest.starts_with('.'));
            if !config.groups.names.iter().any(is_of) {
                advice.push((format!("headers.{key}"), "it belongs to no group of filegroups".to_owned()));
            }
        }
        let files = || config.groups.names.iter().filter_map(|name| config.groups.files.get_key_value(name));
        let needed_directories = files().map(|(_, files)| ("filegroups", files.directory.clone())).collect();
        let needed_files =
            files().map(|(name, files)| (format!("filegroups.{name}"), files.as_name())).collect();
        Facts {
            batch_size: Some(config.batch_size),
            batch_size_key: "batchSize",
            needed_directories,
            needed_files,
            advice,
            ..Facts::default()
        }
    }
}

impl Source for TaildirSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let name = self.context.common.name.clone();
        let tailer = self.tailer(Box::new(RealDisk), out.max_batch_events() as usize);
        let worker = Worker::start(&name, tailer).await?;
        let mut puts = OpenPuts::new(name.clone(), out, PAUSES);
        let ended = tokio::select! {
            biased;
            () = shutdown.requested() => Ok(()),
            ended = self.pump(&worker, &mut puts) => ended,
        };
        if timeout(STOP_LIMIT, puts.finish()).await.is_err() {
            tracing::warn!(source = %name, "stopped without an answer of the channels: the last lines will be read again");
        }
        worker.close(last_of_each(puts.take_acks())).await;
        ended
    }
}

impl TaildirSource {
    /// Reads and puts for ever. What is dropped here was not acknowledged, and is read again.
    async fn pump(&self, worker: &Worker, puts: &mut OpenPuts<Ack>) -> Result<(), SourceError> {
        let (increment, most) =
            (self.config.backoff_sleep_increment.duration(), self.config.max_backoff_sleep.duration());
        let hint = if self.config.watch_directories {
            Hint::new(self.config.groups.files.values().map(|files| files.directory.as_path()))
        } else {
            Hint::none()
        };
        let mut empty: u32 = 0;
        let mut scan_at = Instant::now();
        let mut soonest = scan_at;
        loop {
            let now = Instant::now();
            let scan = now >= scan_at;
            let mut answer = worker
                .ask(Next { acks: last_of_each(puts.take_acks()), scan, now })
                .await?
                .await
                .map_err(|_| gone())?;
            if scan {
                let took = now.elapsed();
                soonest = now + took + (took * GAP_PARTS).clamp(LEAST_GAP, MOST_GAP);
            }
            let found = answer.piece.is_some();
            while let Some(piece) = answer.piece {
                // The next piece is read while this one is put.
                let next = Next { acks: last_of_each(puts.take_acks()), scan: false, now: Instant::now() };
                let next = worker.ask(next).await?;
                for (batch, ack) in piece.parts {
                    let putting = puts.put(batch, ack);
                    pin!(putting);
                    while timeout(SCAN_INTERVAL, &mut putting).await.is_err() {
                        worker.look().await?;
                    }
                }
                answer = next.await.map_err(|_| gone())?;
            }
            if found || scan {
                empty = if found { 1 } else { empty.saturating_add(1) };
                scan_at = Instant::now() + increment.saturating_mul(empty).min(most);
            }
            if !puts.is_empty() || found {
                // Positions move before there is a pause.
                puts.settle_all().await;
                continue;
            }
            tokio::select! {
                biased;
                () = sleep_until(answer.wake_at.map_or(scan_at, |wake_at| wake_at.min(scan_at))) => {}
                () = hint.changed() => {
                    scan_at = scan_at.min(soonest);
                    sleep_until(scan_at).await;
                }
            }
        }
    }
}
