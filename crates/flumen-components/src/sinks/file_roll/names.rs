//! The names of files, as Java Flume's path managers make them.

use super::config::{FileRollConfig, PathManager};
use flumen_core::{registry::BuildError, world::WallClock};
use flumen_java::dates::{DateFormat, Locale, Zone};
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
    RollTime { last: String, format: DateFormat },
}

impl Names {
    pub(super) fn new(
        config: &FileRollConfig,
        zone: &Zone,
        clock: Arc<dyn WallClock>,
    ) -> Result<Self, BuildError> {
        let stamp = match config.path_manager {
            PathManager::Default => Stamp::Built(clock.now_ms()),
            PathManager::RollTime => {
                let format = DateFormat::compile("yyyyMMddHHmmss", &Locale::root(), zone);
                let format =
                    format.map_err(|error| BuildError::with("the format of ROLLTIME names", error))?;
                Stamp::RollTime { last: String::new(), format }
            }
        };
        let (prefix, extension) = (config.prefix.clone(), config.extension.clone());
        Ok(Self { directory: config.directory.clone(), prefix, extension, stamp, clock, n: 0 })
    }

    /// The next name. Counts go up for the life of the sink, or begin at 1 in each new second.
    pub(super) fn next(&mut self) -> PathBuf {
        let stamp = match &mut self.stamp {
            Stamp::Built(ms) => ms.to_string(),
            Stamp::RollTime { last, format } => {
                let second = format.format(self.clock.now_ms());
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
