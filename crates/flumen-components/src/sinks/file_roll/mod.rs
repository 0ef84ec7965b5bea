//! Writes events into files of a directory, and begins a new file from time to time.
//!
//! Delivery: at least once. A batch is committed when all of it was handed to the system, or, with `sink.fsync = batch`,
//! when the disk has it; `auto` syncs where the channel is durable.
//! Transient failure (a full or missing disk): the batch stays in the channel and is tried again after a pause; what was
//! written of it is cut off the file.
//! Permanent failure (an event that the serializer cannot write): the event is discarded and counted.
//! Duplicates: all of a batch, if the agent stops between the write and the commit, or a failed write cannot be cut off.

mod buffer;
mod config;
mod disk;
mod names;
mod rolling;
#[cfg(test)]
mod tests;

pub use config::{FileRollConfig, Fsync, PathManager, RollInterval};

use disk::RealDisk;
use flumen_core::{
    config::Severity,
    event::Batch,
    registry::{BuildContext, BuildError, Facts, Kind, SinkContext, SinkType},
    sink::{Blocking, DeliverError, Delivery, Sink},
};
use flumen_java::dates::Zone;
use names::Names;
use rolling::{MakeSerializer, Parts, RollingFile, Sync};
use tokio::time::Instant;

/// See the module.
#[derive(Debug)]
pub struct FileRollSink(Blocking<RollingFile>);

impl SinkType for FileRollSink {
    const NAMES: &'static [&'static str] =
        &["file_roll", "org.apache.flume.sink.RollingFileSink", "file-roll"];
    const SUMMARY: &'static str =
        "Writes events into files of a directory, a new one every so many seconds or bytes.";
    type Config = FileRollConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let make_serializer = serializer(&config, &context.common)?;
        let names = Names::new(&config, &zone(&context.common), context.common.clock.clone())?;
        let sync = match config.fsync {
            Fsync::Auto if context.durable_channel => Sync::Batch,
            Fsync::Batch => Sync::Batch,
            Fsync::Roll => Sync::Roll,
            Fsync::Auto | Fsync::None => Sync::Never,
        };
        let rolling = RollingFile::new(Parts {
            directory: config.directory,
            names,
            disk: Box::new(RealDisk),
            make_serializer,
            interval: config.roll_interval.0,
            most_bytes: config.roll_size.0,
            sync,
            metrics: context.metrics.clone(),
        });
        Ok(Self(Blocking::new(&context.common.name, rolling)))
    }

    fn facts(config: &Self::Config) -> Facts {
        // Sinks with other names of files do not meet in their directory.
        let names = [config.prefix.as_str(), config.extension.as_str()].join("*.");
        let own = if names == "*." { config.directory.clone() } else { config.directory.join(names) };
        Facts {
            batch_size: Some(config.batch_size),
            batch_size_key: "sink.batchSize",
            needed_directories: vec![("sink.directory", config.directory.clone())],
            own_directories: vec![own],
            hints: config.small_files().into_iter().collect(),
            ..Facts::default()
        }
    }
}

/// Finds the serializer, checks its settings, and gives what makes one for each file.
fn serializer(config: &FileRollConfig, context: &BuildContext) -> Result<MakeSerializer, BuildError> {
    let name = config.serializer.trim();
    let Some(entry) = context.registry.find_serializer(name).copied() else {
        if let Some(absent) = context.registry.find_absent(Kind::Serializer, name) {
            return Err(BuildError::new(format!(
                "sink.serializer: `{name}` is known and not there: {}",
                absent.instead
            )));
        }
        let known: Vec<&str> =
            context.registry.infos(Kind::Serializer).iter().map(|info| info.short_name()).collect();
        let known = known.join(", ");
        return Err(BuildError::new(format!(
            "sink.serializer: there is no serializer `{name}`; there are: {known}"
        )));
    };
    let settings = config.serializer_settings.clone();
    for problem in (entry.check)(&settings).1 {
        match problem.severity {
            Severity::Error => return Err(BuildError::new(problem.to_string())),
            _ => tracing::warn!(sink = %context.name, "{problem}"),
        }
    }
    let context = context.clone();
    Ok(Box::new(move || (entry.build)(&settings, &context)))
}

/// The zone of names: Java's `user.timezone`, else the machine's.
fn zone(context: &BuildContext) -> Zone {
    context.environment.property("user.timezone").map_or_else(Zone::system, Zone::of_id)
}

impl Sink for FileRollSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        self.0.deliver(batch).await
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.0.next_deadline()
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        self.0.on_deadline().await
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        self.0.settled()
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        self.0.close().await
    }
}
