//! Where the operator said that the configuration is.

use flumen_core::{config::Secret, registry::Environment};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// What a poll waits between two looks, unless the operator says otherwise.
const FILE_INTERVAL: Duration = Duration::from_secs(30);
/// The same as soon as one source is a web server, as in Java.
const HTTP_INTERVAL: Duration = Duration::from_secs(300);

/// The sources of a configuration, as the command line names them. ZooKeeper hides the others; files come before URIs, and
/// a later one wins.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Files (`-f`).
    pub files: Vec<PathBuf>,
    /// URIs (`-u`): `file:`, `http:`, `https:`, `classpath:`.
    pub uris: Vec<String>,
    /// ZooKeeper's addresses (`-z`), as `host:port,host:port/chroot`.
    pub zookeeper: Option<String>,
    /// The node above those of the agents (`-p`).
    pub zookeeper_base: String,
    /// Who asks web servers. Used where there is a password too.
    pub user: Option<String>,
    /// The password for web servers.
    pub password: Option<Secret>,
    /// Where `classpath:` URIs and `lookups.properties` are looked for: the configuration folder, then those of plug-ins.
    pub conf_dirs: Vec<PathBuf>,
    /// Where the last good configuration is kept (`-b`).
    pub backup_dir: Option<PathBuf>,
    /// What the process was started with: lookups read it.
    pub environment: Arc<Environment>,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            uris: Vec::new(),
            zookeeper: None,
            zookeeper_base: "/flume".to_owned(),
            user: None,
            password: None,
            conf_dirs: Vec::new(),
            backup_dir: None,
            environment: Arc::default(),
        }
    }
}

impl Sources {
    /// How often is looked for changes where the operator does not say: 30 s, and 300 s where a URI starts with `http`.
    pub fn default_poll_interval(&self) -> Duration {
        let http =
            self.uris.iter().any(|uri| uri.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http")));
        if http { HTTP_INTERVAL } else { FILE_INTERVAL }
    }
}
