//! The names of files, as Java Flume's path managers make them.

use super::config::{FileRollConfig, PathManager};
use flumen_core::world::WallClock;
use std::{path::PathBuf, sync::Arc};

/// Makes one name after the other.
#[derive(Debug)]
pub(super) struct Names {
    directory: PathBuf,
    prefix: String,
    extension: String,
    /// What stands between prefix and count.
    stamp: Stamp,
    clock: Arc<dyn WallClock>,
    n: u64,
}

#[derive(Debug)]
enum Stamp {
    /// When the sink was built, in milliseconds.
    Built(i64),
    /// The second of the last name, in local time.
    RollTime { last: String, zone: jiff::tz::TimeZone },
}

impl Names {
    pub(super) fn new(config: &FileRollConfig, zone: jiff::tz::TimeZone, clock: Arc<dyn WallClock>) -> Self {
        let stamp = match config.path_manager {
            PathManager::Default => Stamp::Built(clock.now_ms()),
            PathManager::RollTime => Stamp::RollTime { last: String::new(), zone },
        };
        let (prefix, extension) = (config.prefix.clone(), config.extension.clone());
        Self { directory: config.directory.clone(), prefix, extension, stamp, clock, n: 0 }
    }

    /// The next name. Counts go up for the life of the sink, or begin at 1 in each new second.
    pub(super) fn next(&mut self) -> PathBuf {
        let stamp = match &mut self.stamp {
            Stamp::Built(ms) => ms.to_string(),
            Stamp::RollTime { last, zone } => {
                let now = jiff::Timestamp::from_millisecond(self.clock.now_ms()).unwrap_or_default();
                let second = now.to_zoned(zone.clone()).strftime("%Y%m%d%H%M%S").to_string();
                if *last != second {
                    last.clone_from(&second);
                    self.n = 0;
                }
                second
            }
        };
        self.n += 1;
        let dot = if self.extension.is_empty() { "" } else { "." };
        // Not `join`: a prefix that begins with a slash would replace the directory.
        let mut path = self.directory.clone().into_os_string();
        path.push(format!("/{}{stamp}-{}{dot}{}", self.prefix, self.n, self.extension));
        path.into()
    }
}
