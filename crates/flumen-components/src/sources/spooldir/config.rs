//! The settings of the spooldir source.

use crate::shared::{charset::CharsetSetting, regex::JavaRegex};
use flumen_core::{
    config::{Configuration, Millis, PropertyValue, Settings, choose},
    serialize::OnBadText,
};

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
#[configuration(ignored(
    key = "bufferMaxLines",
    why = "Java Flume has not read it since 1.4; lines wait in batches"
))]
pub struct SpooldirConfig {
    /// The directory that files are put into. It must be there. Files must be whole when they come, and stay as they are.
    pub spool_dir: String,
    /// What is appended to the name of a file that is done. Names that end so are never read.
    #[property(default = ".COMPLETED")]
    pub file_suffix: String,
    /// What becomes of files that are done: `never` (they stay) or `immediate` (they are deleted).
    #[property(default = "never")]
    pub delete_policy: DeletePolicy,
    /// How it is known that a file that stays is done: `rename` (by its name) or `tracker_dir` (by an empty file in
    /// `trackerDir`; nothing is written elsewhere).
    #[property(default = "rename")]
    pub tracking_policy: TrackingPolicy,
    /// Whether an event gets the absolute path of its file as a header.
    #[property(default = "false")]
    pub file_header: bool,
    /// The name of that header.
    #[property(default = "file")]
    pub file_header_key: String,
    /// Whether an event gets the name of its file as a header.
    #[property(default = "false")]
    pub basename_header: bool,
    /// The name of that header.
    #[property(default = "basename")]
    pub basename_header_key: String,
    /// A regular expression: only files with such names are read.
    #[property(default = "^.*$")]
    pub include_pattern: JavaRegex,
    /// A regular expression: files with such names are not read, and directories with such names not searched. It wins
    /// over `includePattern`.
    #[property(default = "^$")]
    pub ignore_pattern: JavaRegex,
    /// The directory in which it is kept how far a file was read. A relative one is below `spoolDir`. Its last part is
    /// made. Two sources must not share one.
    #[property(default = ".flumespool")]
    pub tracker_dir: String,
    /// Which file is next: `oldest` or `youngest` (by the time of its last change, then by name), or `random` (as the
    /// directory lists them, which is fastest).
    #[property(default = "oldest")]
    pub consume_order: ConsumeOrder,
    /// Whether directories below `spoolDir` are searched too. Those whose names begin with a dot never are.
    #[property(default = "false")]
    pub recursive_directory_search: bool,
    /// The pause before the directory is looked at again.
    #[property(default = "500", min = "1")]
    pub poll_delay: Millis,
    /// The longest pause after a channel has refused events. The first is 250 ms; they double.
    #[property(default = "4000", min = "1")]
    pub max_backoff: Millis,
    /// Events to put at a time. A batch never has events of two files.
    #[property(default = "100", min = "1", max = "1000000")]
    pub batch_size: u32,
    /// The charset of files, for deserializers that read text.
    #[property(default = "UTF-8")]
    pub input_charset: CharsetSetting,
    /// What to do with bytes that are no text in that charset: `FAIL` (what is before them is delivered, the file is put
    /// aside), `REPLACE` (U+FFFD stands for them) or `IGNORE` (they are left out).
    #[property(default = "FAIL")]
    pub decode_error_policy: DecodeErrorPolicy,
    /// What makes events of a file: `LINE`, `AVRO`, `BLOB`, or another deserializer.
    #[property(default = "LINE")]
    pub deserializer: String,
    /// The deserializer's own properties.
    #[property(prefix = "deserializer.")]
    pub deserializer_settings: Settings,
    /// The old name of `deserializer.maxLineLength`, for LINE. Where both are set, this one counts.
    #[property(min = "1", max = "268435456")]
    pub buffer_max_line_length: Option<u32>,
}

/// What becomes of files that are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletePolicy {
    /// They stay.
    Never,
    /// They are deleted.
    Immediate,
}

impl PropertyValue for DeletePolicy {
    const KIND: &'static str = "`never` or `immediate`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("never", Self::Never), ("immediate", Self::Immediate)])
    }
}

/// How it is known that a file is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackingPolicy {
    /// By its name.
    Rename,
    /// By a file in the tracker directory.
    TrackerDir,
}

impl PropertyValue for TrackingPolicy {
    const KIND: &'static str = "`rename` or `tracker_dir`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("rename", Self::Rename), ("tracker_dir", Self::TrackerDir)])
    }
}

/// Which file is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsumeOrder {
    /// The one that was changed first.
    Oldest,
    /// The one that was changed last.
    Youngest,
    /// Any.
    Random,
}

impl PropertyValue for ConsumeOrder {
    const KIND: &'static str = "`oldest`, `youngest` or `random`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("oldest", Self::Oldest), ("youngest", Self::Youngest), ("random", Self::Random)])
    }
}

/// What to do with bytes that are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeErrorPolicy(pub OnBadText);

impl PropertyValue for DecodeErrorPolicy {
    const KIND: &'static str = "`FAIL`, `REPLACE` or `IGNORE`";

    fn parse(text: &str) -> Result<Self, String> {
        let words =
            [("FAIL", OnBadText::Fail), ("REPLACE", OnBadText::Replace), ("IGNORE", OnBadText::Ignore)];
        choose(text, &words).map(Self)
    }
}
