//! Where configuration text comes from: files, URIs, ZooKeeper, and the last good one; and how a change is noticed.

mod backup;
mod file;
mod http;
#[cfg(test)]
mod tests;
mod uri;
mod zookeeper;

use super::{ConfigText, Entries, Sources, encoding};
use file::FileOrigin;
use flumen_core::config::{Problem, Severity};
use flumen_java::properties::Encoding;
use futures_util::future::join_all;
use http::HttpOrigin;
use std::{io, path::PathBuf, sync::Arc, time::Duration};
use zookeeper::ZooKeeperOrigin;

/// The longest configuration that is read, in bytes: far beyond any real one.
pub(super) const MAX_BYTES: u64 = 128 << 20;

/// All texts of a configuration, in the order in which a later one wins.
#[derive(Debug)]
pub struct Origins {
    list: Vec<Origin>,
    agent: String,
    sources: Sources,
    /// What was wrong with the sources themselves.
    problems: Vec<Problem>,
    backup: Option<PathBuf>,
    /// Whether a ZooKeeper node without a configuration is waited for.
    follow: bool,
    /// What a good configuration leaves for the backup.
    kept: Option<Vec<u8>>,
}

/// One source of text, and what it gave last.
#[derive(Debug)]
struct Origin {
    name: Arc<str>,
    kind: Kind,
    text: Option<Vec<u8>>,
    /// Whether the text is newer than what was read.
    fresh: bool,
    /// What was said about it last: the same is not said again at each look.
    told: Option<String>,
}

#[derive(Debug)]
enum Kind {
    File(FileOrigin),
    Http(HttpOrigin),
    ZooKeeper(ZooKeeperOrigin),
    /// A source that can never be read.
    Never(uri::UriError),
}

/// What a look at a source brought.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// Nothing that was not known.
    Same,
    /// A text that may be new.
    Text(Vec<u8>),
    /// It is not there, which is no failure: the node of ZooKeeper may come later.
    Absent,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Texts {
    /// The texts, in order.
    pub list: Vec<ConfigText>,
    /// What is to be said about their sources.
    pub problems: Vec<Problem>,
    /// Whether `${…}` lookups are made: as in Java not in ZooKeeper's text, which others may write, and not again in the backup.
    pub lookups: bool,
}

/// Why a configuration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// The system says no.
    #[error("cannot read configuration file {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is far too long.
    #[error(
        "configuration {name} has {bytes} bytes, more than the {MAX_BYTES} that are read: is it the right one?"
    )]
    TooLong {
        /// The file or URI.
        name: String,
        /// How long it is, or how much of it was read.
        bytes: u64,
    },
    /// A URI that is none, or whose file is nowhere.
    #[error(transparent)]
    Uri(#[from] uri::UriError),
    /// A web server does not give it.
    #[error("cannot read configuration {uri}: {what}")]
    Http {
        /// The URI, without a password.
        uri: String,
        /// What went wrong, and what to do.
        what: String,
    },
    /// ZooKeeper does not give it.
    #[error("cannot read configuration {node} of ZooKeeper at {addresses}: {what}")]
    ZooKeeper {
        /// The node.
        node: String,
        /// The servers.
        addresses: String,
        /// What went wrong, and what to do.
        what: String,
    },
    /// There is no source at all.
    #[error("no configuration is named: -f FILE, -u URI or -z ADDRESSES says where it is")]
    None,
    /// Several things are wrong, or a text is no configuration.
    #[error("{}", .0.join("\n"))]
    Many(Vec<String>),
}

impl Texts {
    /// Whether there is no property in them.
    pub fn are_blank(&self) -> bool {
        self.list.iter().all(|text| is_blank(&text.bytes))
    }
}

impl Origins {
    /// The sources of one agent's configuration. Nothing is read yet.
    pub fn new(sources: Sources, agent: &str) -> Self {
        let mut problems = Vec::new();
        let mut list = Vec::new();
        if let Some(addresses) = &sources.zookeeper {
            if !sources.files.is_empty() || !sources.uris.is_empty() {
                let what = "the configuration is read from ZooKeeper alone: -f and -u do nothing beside -z";
                problems.push(Problem::new(Severity::Warning, "-z", None, what));
            }
            let origin =
                ZooKeeperOrigin::new(addresses, &sources.zookeeper_base, agent, &sources.environment);
            list.push(Origin::new(origin.name().into(), Kind::ZooKeeper(origin)));
        } else {
            let uris = sources.uris.iter().map(|uri| uri::origin(uri, &sources));
            let files = sources.files.iter().map(|path| {
                let file = FileOrigin::new(vec![path.clone()], false);
                (path.display().to_string(), path.display().to_string(), Kind::File(file))
            });
            for (name, path, kind) in files.chain(uris) {
                if let Some(extension) = uri::refused_extension(&path) {
                    let what = format!("is skipped: {extension} is not read, properties files are");
                    problems.push(Problem::new(Severity::Warning, name, None, what));
                    continue;
                }
                list.push(Origin::new(name.into(), kind));
            }
        }
        let backup = sources.backup_dir.as_ref().map(|dir| dir.join(format!(".{agent}.properties")));
        Self { list, agent: agent.to_owned(), sources, problems, backup, follow: false, kept: None }
    }

    /// Says whether changes will be asked for: then ZooKeeper's node is watched, and may be empty at first.
    pub fn follow(&mut self, follow: bool) {
        self.follow = follow;
        for origin in &mut self.list {
            if let Kind::ZooKeeper(zookeeper) = &mut origin.kind {
                zookeeper.watched = follow;
            }
        }
    }

    /// The agent whose configuration it is; empty for all.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The sources as they were named.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether an empty configuration is one that may still come: ZooKeeper's node is watched.
    pub fn may_come_later(&self) -> bool {
        self.follow && self.sources.zookeeper.is_some()
    }

    /// Reads all texts that have changed, and gives all. The future can be dropped at any time.
    ///
    /// A source that fails keeps the text that it gave before, with a warning. Without one, a file is an error, and a URI is
    /// one only where no other source gives text, as in Java. Where there is no property at all the backup is taken.
    ///
    /// # Errors
    /// There is no text, or a file cannot be read.
    pub async fn read(&mut self) -> Result<Texts, OriginError> {
        let lookups = self.sources.zookeeper.is_none();
        let mut texts = Texts { problems: self.problems.clone(), lookups, ..Texts::default() };
        let (mut errors, mut fatal) = (Vec::new(), false);
        let utf8 = self.sources.environment.property(encoding::SETTING);
        let utf8 = utf8.is_some_and(|name| name.trim().eq_ignore_ascii_case("utf-8"));
        let looks = join_all(self.list.iter_mut().map(Origin::look)).await;
        for (origin, looked) in self.list.iter_mut().zip(looks) {
            origin.fresh = false;
            if let Err(error) = looked {
                let what = format!("{error}; what was read before stays");
                if origin.text.is_some() {
                    texts.problems.push(Problem::new(Severity::Warning, &*origin.name, None, what));
                } else {
                    fatal |= matches!(&origin.kind, Kind::File(file) if !file.is_of_uri());
                    errors.push(error);
                }
            } else if let (None, Kind::ZooKeeper(zookeeper), false) =
                (&origin.text, &origin.kind, self.follow)
            {
                errors.push(zookeeper.error("there is no such node"));
            }
            if let Some(bytes) = origin.text.clone() {
                let zookeeper = matches!(origin.kind, Kind::ZooKeeper(_));
                let encoding = if zookeeper || utf8 { Encoding::Utf8 } else { Encoding::Latin1 };
                texts.list.push(ConfigText { name: origin.name.clone(), bytes, encoding });
            }
        }
        if (fatal || texts.are_blank())
            && let Some(path) = self.backup.clone()
            && let Ok((bytes, _)) = file::read(path.clone()).await
        {
            let why = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            let why = if why.is_empty() { "no source has a property".to_owned() } else { why };
            let what = format!("is used, the last good configuration, because {why}");
            let name: Arc<str> = path.display().to_string().into();
            texts.problems.push(Problem::new(Severity::Warning, &*name, None, what));
            texts.list = vec![ConfigText { name, bytes, encoding: Encoding::Latin1 }];
            texts.lookups = false;
            return Ok(texts);
        }
        // ZooKeeper may come up after its agents: they wait for it.
        if fatal || (texts.list.is_empty() && !self.may_come_later()) {
            return Err(match errors.len() {
                0 => OriginError::None,
                1 => errors.remove(0),
                _ => OriginError::Many(errors.iter().map(ToString::to_string).collect()),
            });
        }
        let level = if texts.list.is_empty() { Severity::Error } else { Severity::Warning };
        let warn = |error: &OriginError| Problem::new(level, "configuration", None, error.to_string());
        texts.problems.extend(errors.iter().map(warn));
        Ok(texts)
    }

    /// Waits until a source has a new text: ZooKeeper says so itself, others are looked at after each `interval`. What goes
    /// wrong is logged, once. The future can be dropped at any time.
    pub async fn changed(&mut self, interval: Duration) {
        loop {
            if self.list.iter().any(|origin| origin.fresh) {
                return;
            }
            match self.list.first_mut().map(|origin| &mut origin.kind) {
                Some(Kind::ZooKeeper(zookeeper)) => zookeeper.event().await,
                _ => tokio::time::sleep(interval).await,
            }
            let looks = join_all(self.list.iter_mut().map(Origin::look)).await;
            for (origin, looked) in self.list.iter_mut().zip(looks) {
                if let Err(error) = looked {
                    origin.tell(&error.to_string());
                }
            }
        }
    }

    /// Remembers properties, their lookups made and their filters not, for the backup.
    pub fn keep(&mut self, entries: &Entries) {
        let from_backup = entries.files.iter().any(|file| self.is_backup(file));
        self.kept = (self.backup.is_some() && !from_backup && !entries.list.is_empty())
            .then(|| backup::text(entries));
    }

    /// Writes what was kept, once it has turned out to be good. A failure is logged: the agent runs without it.
    pub async fn write_backup(&mut self) {
        let (Some(bytes), Some(path)) = (self.kept.take(), self.backup.clone()) else { return };
        let shown = path.display().to_string();
        let written = tokio::task::spawn_blocking(move || backup::write(&path, &bytes)).await;
        match written {
            Ok(Ok(())) => tracing::debug!("the configuration is kept in {shown}"),
            Ok(Err(error)) => tracing::error!("cannot keep the configuration in {shown}: {error}"),
            Err(error) => tracing::error!("cannot keep the configuration in {shown}: {error}"),
        }
    }

    fn is_backup(&self, name: &str) -> bool {
        self.backup.as_ref().is_some_and(|path| path.display().to_string() == name)
    }
}

impl Origin {
    fn new(name: Arc<str>, kind: Kind) -> Self {
        Self { name, kind, text: None, fresh: false, told: None }
    }

    /// Looks whether there is a new text, and takes it. One that is gone or empty leaves the old one.
    async fn look(&mut self) -> Result<(), OriginError> {
        let look = match &mut self.kind {
            Kind::File(file) => file.look().await?,
            Kind::Http(http) => http.look(self.text.is_some()).await?,
            Kind::ZooKeeper(zookeeper) => zookeeper.look().await?,
            Kind::Never(error) => return Err(error.clone().into()),
        };
        let known = self.text.as_ref().is_some_and(|text| !is_blank(text));
        match look {
            Look::Same => self.told = None,
            Look::Absent if self.text.is_none() => {}
            Look::Absent => self.tell("is gone"),
            Look::Text(text) if known && is_blank(&text) => self.tell("is empty now"),
            Look::Text(text) => {
                self.told = None;
                if self.text.as_ref() != Some(&text) {
                    self.text = Some(text);
                    self.fresh = true;
                }
            }
        }
        Ok(())
    }

    /// Logs what is wrong, unless it was the last thing said.
    fn tell(&mut self, what: &str) {
        if self.told.as_deref() != Some(what) {
            tracing::error!("configuration {}: {what}; the running configuration stays", self.name);
            self.told = Some(what.to_owned());
        }
    }
}

/// Whether a text has nothing but blank lines and remarks.
fn is_blank(text: &[u8]) -> bool {
    let remark = |line: &[u8]| matches!(line.trim_ascii_start().first(), None | Some(b'#' | b'!'));
    text.split(|b| matches!(b, b'\n' | b'\r')).all(remark)
}
