//! The settings of the taildir source.

use super::group::{self, FileGroup};
use crate::shared::regex::FilledRegex;
use flumen_core::config::{Bytes, Configuration, Millis, Property, Settings, Severity, View, Words};
use std::collections::BTreeMap;

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct TaildirConfig {
    /// The file groups.
    #[property(flatten)]
    pub groups: FileGroups,
    /// Headers of the events of a group: `headers.<group>.<header> = value`. A header's name may contain dots.
    #[property(prefix = "headers.")]
    pub headers: BTreeMap<String, String>,
    /// The file in which positions are kept: Java Flume's format. Directories above it are made. Two sources must not
    /// share one.
    #[property(default = "~/.flume/taildir_position.json")]
    pub position_file: String,
    /// How often positions are written, at most.
    #[property(default = "3000", min = "1")]
    pub write_pos_interval: Millis,
    /// Whether an event gets the header `byteoffset`: where its line begins in the file, in bytes.
    #[property(default = "false")]
    pub byte_offset_header: bool,
    /// Whether an event gets the absolute path of its file as a header.
    #[property(default = "false")]
    pub file_header: bool,
    /// The name of that header.
    #[property(default = "file")]
    pub file_header_key: String,
    /// Whether files that are there at the start and have no position are read from their ends on.
    #[property(default = "false")]
    pub skip_to_end: bool,
    /// A file that has not changed for so long is closed, and a last line without newline is delivered. It is opened
    /// again when it changes.
    #[property(default = "120000")]
    pub idle_timeout: Millis,
    /// Lines to put at a time.
    #[property(default = "100", min = "1", max = "1000000")]
    pub batch_size: u32,
    /// Batches to take from one file before the others have their turn.
    #[property(default = "9223372036854775807", min = "1", max = "9223372036854775807", on_bad = default)]
    pub max_batch_count: u64,
    /// Whether a directory is listed again only when it has changed.
    #[property(default = "true")]
    pub cache_pattern_matching: bool,
    /// What each further look that finds nothing new adds to the pause before the next one.
    #[property(default = "1000")]
    pub backoff_sleep_increment: Millis,
    /// The longest such pause.
    #[property(default = "5000")]
    pub max_backoff_sleep: Millis,
    /// Whether a pause ends early when the kernel tells that something in a directory has changed (inotify).
    #[property(default = "true")]
    pub watch_directories: bool,
    /// The longest line, in bytes without its end. A longer one becomes several events.
    #[property(default = "16777216", min = "16", max = "268435456")]
    pub max_line_length: Bytes,
    /// Files that are open at a time, at most; the one that was not needed for the longest time is closed for the next.
    #[property(default = "512", min = "1", max = "1000000")]
    pub max_open_files: u32,
    /// Whether files that are gzip by their first bytes are unpacked.
    #[property(default = "true")]
    pub decompress: bool,
    /// Events of several lines.
    #[property(nested = "multiline.")]
    pub multiline: MultilineConfig,
}

/// What stands below `multiline.`.
#[derive(Debug, Clone, Configuration)]
pub struct MultilineConfig {
    /// A regular expression that is found in the first line of each event: lines without it belong to the event before.
    /// Unset: each line is an event.
    pub start: Option<FilledRegex>,
    /// An event is over when no line has followed for so long.
    #[property(default = "2000", min = "1")]
    pub timeout: Millis,
    /// Lines of an event, at most; further ones begin the next event. `maxLineLength` limits its bytes.
    #[property(default = "1000", min = "1", max = "1000000")]
    pub max_lines: u32,
}

/// Names of file groups, and the files of each. A group that is not named is none, whatever its files are.
#[derive(Debug, Clone)]
pub struct FileGroups {
    /// In the order of the list.
    pub names: Vec<String>,
    /// By name. A named group may have none.
    pub files: BTreeMap<String, FileGroup>,
}

#[derive(Configuration)]
struct Keys {
    /// Names of file groups. Each has its files in `filegroups.<name>`.
    filegroups: Words,
    /// The files of a group: a directory, a slash, and a regular expression for the names in it. The directory must be
    /// there when the source starts; sub-directories are not searched.
    #[property(prefix = "filegroups.")]
    files: Settings,
}

impl Configuration for FileGroups {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let Keys { filegroups, files: settings } = Keys::read(view)?;
        let names = filegroups.0;
        let (mut files, mut good) = (BTreeMap::new(), true);
        for (key, setting) in settings.iter() {
            let full = format!("filegroups.{key}");
            if names.iter().any(|name| name == key) {
                match group::parse(&setting.value) {
                    Ok(group) => _ = files.insert(key.to_owned(), group),
                    Err(why) => {
                        let what = "is not a directory, a slash and a regular expression";
                        view.error(&full, format!("`{}` {what}: {why}", setting.value));
                        good = false;
                    }
                }
                continue;
            }
            let header =
                key.split_once(".headers.").filter(|(name, _)| names.iter().any(|known| known == name));
            let (what, cure) = match header {
                Some((name, header)) => (
                    "headers stand beside the groups".to_owned(),
                    Some(format!("write headers.{name}.{header}")),
                ),
                None => (format!("`filegroups` does not name `{key}`: it does nothing"), None),
            };
            view.note(Severity::Warning, &full, &what, cure.as_deref());
        }
        good.then_some(Self { names, files })
    }
}
