//! The settings of the file_roll sink.

use flumen_core::config::{Bytes, Configuration, PropertyValue, Settings, choose};
use std::{path::PathBuf, time::Duration};

/// What stands below the sink.
#[derive(Debug, Clone, Configuration)]
#[configuration(ignored(key = "batchSize", why = "Java Flume never reads it; write `sink.batchSize`"))]
#[configuration(ignored(key = "serializer.", why = "it is read below `sink.serializer.` only"))]
pub struct FileRollConfig {
    /// The directory that files are written into. It must be there.
    #[property(key = "sink.directory")]
    pub directory: PathBuf,
    /// Seconds until the next file is begun, also when no event came; 0 or less: one file for the whole run.
    #[property(key = "sink.rollInterval", default = "30")]
    pub roll_interval: RollInterval,
    /// Bytes after which the next file is begun, at the end of a batch; 0: files may be of any size. Not in Java Flume.
    #[property(key = "sink.rollSize", default = "0")]
    pub roll_size: Bytes,
    /// Events to write at a time. They are on disk before they leave the channel.
    #[property(key = "sink.batchSize", default = "100", min = "1", max = "2147483647")]
    pub batch_size: u32,
    /// How files are named: `DEFAULT` (start of the sink in milliseconds, and a count) or `ROLLTIME` (time of the roll, and a
    /// count within that second).
    #[property(key = "sink.pathManager", default = "DEFAULT")]
    pub path_manager: PathManager,
    /// What file names begin with.
    #[property(key = "sink.pathManager.prefix", default = "")]
    pub prefix: String,
    /// What file names end with, behind a dot.
    #[property(key = "sink.pathManager.extension", default = "")]
    pub extension: String,
    /// What turns events into bytes: `text`, `header_and_text`, `avro_event`, or another serializer.
    #[property(key = "sink.serializer", default = "TEXT")]
    pub serializer: String,
    /// The serializer's own properties.
    #[property(prefix = "sink.serializer.")]
    pub serializer_settings: Settings,
    /// When the disk is told to keep what was written: `batch` (before events leave the channel), `roll` (when a file is
    /// finished), `none` (when the system sees fit), or `auto`: `batch` where the channel is durable, else `none`.
    #[property(key = "sink.fsync", default = "auto")]
    pub fsync: Fsync,
}

impl FileRollConfig {
    /// What is said where files are begun so often that nobody wants as many, mostly by the default.
    pub(super) fn small_files(&self) -> Option<(String, String)> {
        let interval_s = self.roll_interval.0?.as_secs();
        (interval_s <= OFTEN_S).then(|| {
            let a_day = 24 * 60 * 60 / interval_s.max(1);
            let what = format!(
                "begins a file every {interval_s} s, also when no event came: {a_day} files a day; 3600 is one an hour, \
                 and 0 one for the whole run"
            );
            ("sink.rollInterval".to_owned(), what)
        })
    }
}

/// Files that are begun this often are told. Java's default is among them.
const OFTEN_S: u64 = 30;

/// Time between rolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollInterval(pub Option<Duration>);

impl PropertyValue for RollInterval {
    const KIND: &'static str = "seconds";

    fn parse(text: &str) -> Result<Self, String> {
        let seconds = i64::parse(text)?;
        Ok(Self::of_seconds(seconds))
    }

    fn forgive(text: &str) -> Option<(Self, String)> {
        i64::forgive(text).map(|(seconds, shown)| (Self::of_seconds(seconds), shown))
    }
}

impl RollInterval {
    /// Longer waits are cut to this (100 years), so that adding one to a point in time cannot overflow.
    const LONGEST_S: u64 = 100 * 365 * 24 * 60 * 60;

    fn of_seconds(seconds: i64) -> Self {
        let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
        Self(seconds.map(|seconds| Duration::from_secs(seconds.min(Self::LONGEST_S))))
    }
}

/// How files are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathManager {
    /// `<prefix><ms at the sink's start>-<n>.<extension>`.
    Default,
    /// `<prefix><yyyyMMddHHmmss of the roll>-<n>.<extension>`, in local time.
    RollTime,
}

impl PropertyValue for PathManager {
    const KIND: &'static str = "a path manager";

    fn parse(text: &str) -> Result<Self, String> {
        let names = [
            ("DEFAULT", Self::Default),
            ("ROLLTIME", Self::RollTime),
            ("org.apache.flume.formatter.output.DefaultPathManager$Builder", Self::Default),
            ("org.apache.flume.formatter.output.RollTimePathManager$Builder", Self::RollTime),
        ];
        choose(text, &names).map_err(|_| "expected `DEFAULT` or `ROLLTIME`".to_owned())
    }
}

/// When the disk is told to keep what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    /// As the channel promises.
    Auto,
    /// Before events leave the channel.
    Batch,
    /// When a file is finished.
    Roll,
    /// Never.
    None,
}

impl PropertyValue for Fsync {
    const KIND: &'static str = "`auto`, `batch`, `roll` or `none`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(
            text,
            &[("auto", Self::Auto), ("batch", Self::Batch), ("roll", Self::Roll), ("none", Self::None)],
        )
    }
}
