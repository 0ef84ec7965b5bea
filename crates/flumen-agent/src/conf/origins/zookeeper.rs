//! The node of an agent in ZooKeeper, read once or watched.

use super::{Look, MAX_BYTES, OriginError};
use flumen_core::registry::Environment;
use futures_util::future::BoxFuture;
use std::{fmt, io::Read, time::Duration};
use zookeeper_client::{Client, Error, WatchedEvent};

/// How long a session lasts without its servers.
const SESSION: Duration = Duration::from_secs(60);
/// How long one look may take, with connecting, as Java's client has it.
const LIMIT: Duration = Duration::from_secs(15);
/// The pause before the next try where there is no watch.
const RETRY: Duration = Duration::from_secs(5);
/// Looks at a node that comes and goes while it is looked at.
const MAX_TRIES: usize = 5;

/// A node, the session to read it by, and the watch on it.
pub(super) struct ZooKeeperOrigin {
    addresses: String,
    node: String,
    /// Whether a watch is set at each look.
    pub(super) watched: bool,
    /// Why it is not read at all: settings that would have to change how it is connected to.
    refused: Option<String>,
    client: Option<Client>,
    watch: Option<BoxFuture<'static, WatchedEvent>>,
}

/// What to do where servers want to know who asks.
const NO_LOGIN: &str = "there are no logins to ZooKeeper here: let `world` read the node, or serve the configuration by https \
                        (-u, --conf-user)";

/// Java's client takes these `-D` settings, whoever uses it. To connect in the open, or as nobody, where they are given would
/// not be what they say.
fn refused(environment: &Environment) -> Option<String> {
    let is = |name: &str, value: &str| {
        environment.property(name).is_some_and(|text| text.trim().eq_ignore_ascii_case(value))
    };
    let tls = environment.properties.keys().find(|name| name.starts_with("zookeeper.ssl."));
    if is("zookeeper.client.secure", "true") || tls.is_some() {
        let name = tls.map_or("zookeeper.client.secure", String::as_str);
        let what = "TLS to ZooKeeper is not there: remove it and use the plain port, or serve the configuration by https (-u)";
        return Some(format!("-D{name}: {what}"));
    }
    // With this Java's client logs in nowhere, whatever else is set.
    if is("zookeeper.sasl.client", "false") {
        return None;
    }
    let asked = ["zookeeper.sasl.clientconfig", "zookeeper.sasl.client.username"];
    let name = asked.iter().find(|name| environment.property(name).is_some());
    let name = name.or_else(|| is("zookeeper.sasl.client", "true").then_some(&"zookeeper.sasl.client"));
    if let Some(name) = name {
        return Some(format!("-D{name}: {NO_LOGIN}"));
    }
    let logins = environment.property(LOGINS)?;
    has_login(&read_start(logins)?).then(|| format!("-D{LOGINS}: section `Client` of {logins}: {NO_LOGIN}"))
}

/// The property that names a JAAS file. Java's client takes the section `Client` of it, if there is one.
const LOGINS: &str = "java.security.auth.login.config";
/// A JAAS file is never longer, in bytes.
const MAX_LOGINS: u64 = 1 << 20;

/// The text of a JAAS file. Java's client goes on without a login where there is none to be read.
fn read_start(path: &str) -> Option<String> {
    let mut text = Vec::new();
    let path = path.strip_prefix("file:").unwrap_or(path);
    std::fs::File::open(path).ok()?.take(MAX_LOGINS).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Whether a JAAS file has a section for ZooKeeper's clients.
fn has_login(text: &str) -> bool {
    text.match_indices("Client").any(|(at, name)| {
        let begins = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == ';');
        begins && text[at + name.len()..].trim_start().starts_with('{')
    })
}

impl fmt::Debug for ZooKeeperOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZooKeeperOrigin")
            .field("addresses", &self.addresses)
            .field("node", &self.node)
            .finish()
    }
}

impl ZooKeeperOrigin {
    pub(super) fn new(addresses: &str, base: &str, agent: &str, environment: &Environment) -> Self {
        let node = format!("/{}/{agent}", base.trim_matches('/')).replace("//", "/");
        Self {
            addresses: addresses.trim().to_owned(),
            node,
            watched: false,
            refused: refused(environment),
            client: None,
            watch: None,
        }
    }

    pub(super) fn name(&self) -> String {
        format!("zookeeper:{}", self.node)
    }

    pub(super) fn error(&self, what: impl Into<String>) -> OriginError {
        OriginError::ZooKeeper {
            node: self.node.clone(),
            addresses: self.addresses.clone(),
            what: what.into(),
        }
    }

    /// Reads the node, and sets the watch.
    pub(super) async fn look(&mut self) -> Result<Look, OriginError> {
        if let Some(why) = &self.refused {
            return Err(self.error(why.clone()));
        }
        let had_session = self.client.is_some();
        let mut read = self.read_in_time().await;
        // A session that ended meanwhile is replaced at once.
        if had_session
            && matches!(read, Err(Error::SessionExpired | Error::ClientClosed | Error::ConnectionLoss))
        {
            self.client = None;
            read = self.read_in_time().await;
        }
        match read {
            Ok(None) => Ok(Look::Absent),
            Ok(Some(data)) if data.len() as u64 > MAX_BYTES => {
                Err(OriginError::TooLong { name: self.name(), bytes: data.len() as u64 })
            }
            Ok(Some(data)) => Ok(Look::Text(data)),
            Err(error) => {
                (self.client, self.watch) = (None, None);
                Err(self.error(match error {
                    Error::Timeout | Error::NoHosts => "no server answers in time".to_owned(),
                    Error::NoAuth => format!("nobody may read this node without a login; {NO_LOGIN}"),
                    error => error.to_string(),
                }))
            }
        }
    }

    async fn read_in_time(&mut self) -> Result<Option<Vec<u8>>, Error> {
        tokio::time::timeout(LIMIT, self.read()).await.unwrap_or(Err(Error::Timeout))
    }

    async fn read(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => {
                let connector = Client::connector().with_session_timeout(SESSION);
                self.client.insert(connector.connect(&self.addresses).await?).clone()
            }
        };
        for _ in 0..MAX_TRIES {
            if !self.watched {
                return match client.get_data(&self.node).await {
                    Ok((data, _)) => Ok(Some(data)),
                    Err(Error::NoNode) => Ok(None),
                    Err(error) => Err(error),
                };
            }
            match client.get_and_watch_data(&self.node).await {
                Ok((data, _, watcher)) => {
                    self.watch = Some(Box::pin(watcher.changed()));
                    return Ok(Some(data));
                }
                Err(Error::NoNode) => {}
                Err(error) => return Err(error),
            }
            let (stat, watcher) = client.check_and_watch_stat(&self.node).await?;
            if stat.is_none() {
                self.watch = Some(Box::pin(watcher.changed()));
                return Ok(None);
            }
        }
        Err(Error::NoNode)
    }

    /// Waits until another look is worth its while: the watch fired, or it was lost and some time has passed.
    pub(super) async fn event(&mut self) {
        match &mut self.watch {
            Some(watch) => {
                watch.await;
                self.watch = None;
            }
            None => tokio::time::sleep(RETRY).await,
        }
    }
}
