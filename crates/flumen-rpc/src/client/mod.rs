//! A client for applications: sends events to the Avro or Thrift sources of agents, Flumen's and Java's.
//!
//! It takes the settings of Flume's `RpcClientFactory` ([`ClientConfig`]) and knows its kinds of client: one host, the first of
//! several that works, several in turn or at random.
//!
//! ```no_run
//! # async fn send() -> Result<(), flumen_rpc::client::ClientError> {
//! use flumen_rpc::client::RpcClient;
//!
//! let client = RpcClient::from_properties("hosts = h1\nhosts.h1 = collector:41414\n").await?;
//! client.append([("host", "web-1")].into_iter().collect(), "a line").await?;
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! A call returns when the source has said that its channels have the events. After an error some of them may have been
//! stored: whoever sends them again must expect duplicates, as with Java's client.

mod config;
mod host;
mod policy;
#[cfg(test)]
mod tests;

pub use config::{ClientConfig, ClientKind, HostSelector};

use crate::{
    avro,
    error::{RpcError, Why},
    net::{Compression, Target, connector},
};
use bytes::Bytes;
use flumen_core::{
    config::{Problem, Settings, Severity, read},
    event::{Batch, Headers},
    registry::Environment,
};
use flumen_java::properties::{self, Encoding};
use host::{Host, Speech};
use policy::{Balance, Failover};
use std::{fmt, ops::Range};
use tokio::{
    sync::{Mutex, watch},
    time::Instant,
};

/// Why there is no client, or why it has not delivered.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The settings cannot be used; one line for each problem.
    #[error("{}", .0.join("; "))]
    Settings(Vec<String>),
    /// The events were not delivered, or nobody knows.
    #[error(transparent)]
    Delivery(#[from] RpcError),
}

/// Sends events. It may be shared: calls wait for each other where the kind of client has one connection.
pub struct RpcClient {
    kind: Kind,
    batch_size: usize,
    /// For messages.
    peers: String,
    closed: watch::Sender<bool>,
}

enum Kind {
    One(Host),
    Failover(Box<Mutex<FailoverState>>),
    Balance(Box<Mutex<BalanceState>>),
}

/// The hosts of a client that has several, and how to speak to them.
struct Hosts {
    targets: Vec<Target>,
    speech: Speech,
}

struct FailoverState {
    hosts: Hosts,
    policy: Failover,
    max_attempts: u32,
    current: Option<Host>,
}

struct BalanceState {
    hosts: Hosts,
    policy: Balance,
    open: Vec<Option<Host>>,
}

impl RpcClient {
    /// A client of Avro for one host, with Flume's defaults.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn connect(host: &str, port: u16) -> Result<Self, ClientError> {
        let mut settings = Settings::new("");
        settings.set("hosts", "h1", None);
        settings.set("hosts.h1", format!("[{host}]:{port}"), None);
        Self::from_settings(&settings, &Environment::default()).await
    }

    /// A client by the text of a properties file. The process-wide TLS settings (`-Djavax.net.ssl.…`) are those of a JVM and so
    /// not known here: see [`Self::from_settings`].
    ///
    /// # Errors
    /// The settings cannot be used, or there is no connection to a single host.
    pub async fn from_properties(text: &str) -> Result<Self, ClientError> {
        let loaded = properties::load(text.as_bytes(), Encoding::Utf8);
        if let Some(error) = loaded.error {
            return Err(ClientError::Settings(vec![error.to_string()]));
        }
        let mut settings = Settings::new("");
        for pair in loaded.pairs {
            settings.set(pair.key, pair.value, None);
        }
        Self::from_settings(&settings, &Environment::default()).await
    }

    /// A client by its settings; `environment` has the process-wide ones of TLS. Warnings about settings go to the log.
    ///
    /// # Errors
    /// As [`Self::from_properties`].
    pub async fn from_settings(settings: &Settings, environment: &Environment) -> Result<Self, ClientError> {
        let (config, problems) = read::<ClientConfig>(settings, &[]);
        let (errors, others): (Vec<Problem>, Vec<Problem>) =
            problems.into_iter().partition(|problem| problem.severity == Severity::Error);
        others.iter().for_each(|problem| tracing::warn!("{problem}"));
        match config {
            Some(config) if errors.is_empty() => Self::open(&config, environment).await,
            _ => Err(ClientError::Settings(errors.iter().map(ToString::to_string).collect())),
        }
    }

    /// A client by settings that were read.
    ///
    /// # Errors
    /// As [`Self::from_properties`].
    pub async fn open(config: &ClientConfig, environment: &Environment) -> Result<Self, ClientError> {
        let settings = |what| ClientError::Settings(vec![what]);
        let targets = config.targets().map_err(settings)?;
        let trust_all = config.trust_all_certs && config.kind != ClientKind::Thrift;
        let tls = match config.tls.settings(environment, trust_all) {
            Some(tls) => Some(connector(&tls).await.map_err(settings)?),
            None => None,
        };
        let (connect_timeout, request_timeout) =
            (config.connect_timeout.duration(), config.request_timeout.duration());
        let deflate = config.compression_type.trim().eq_ignore_ascii_case("deflate");
        let speech = match config.kind {
            ClientKind::Thrift => Speech::Thrift {
                protocol: config.protocol,
                tls,
                connect_timeout,
                request_timeout,
                max_connections: config.max_connections as usize,
            },
            _ => Speech::Avro(avro::Options {
                tls,
                compression: deflate
                    .then_some(Compression { level: config.compression_level, within_tls: false }),
                connect_timeout,
                request_timeout,
                ..avro::Options::default()
            }),
        };
        let peers = targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
        let kind = match config.kind {
            ClientKind::Default | ClientKind::Thrift => {
                let mut targets = targets.into_iter();
                let first = targets.next().expect("settings without hosts are refused");
                if targets.len() > 0 {
                    tracing::warn!(host = %first, "hosts: only the first is used by this type of client");
                }
                Kind::One(Host::connect(first, &speech).await?)
            }
            ClientKind::Failover => {
                let n_hosts = targets.len();
                let mut state = FailoverState {
                    hosts: Hosts { targets, speech },
                    policy: Failover::new(n_hosts),
                    max_attempts: config.max_attempts.unwrap_or(u32::try_from(n_hosts).unwrap_or(u32::MAX)),
                    current: None,
                };
                state.connect().await?;
                Kind::Failover(Box::new(Mutex::new(state)))
            }
            ClientKind::LoadBalance => {
                let n_hosts = targets.len();
                let longest = config.backoff.then(|| config.longest_backoff());
                let policy = Balance::new(n_hosts, config.host_selector, longest, fastrand::Rng::new());
                let hosts = Hosts { targets, speech };
                let open = (0..n_hosts).map(|_| None).collect();
                Kind::Balance(Box::new(Mutex::new(BalanceState { hosts, policy, open })))
            }
        };
        Ok(Self { kind, batch_size: config.batch_size as usize, peers, closed: watch::Sender::new(false) })
    }

    /// The most events that go in one call.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Whether calls may work: a client of Avro for one host is of no use after an error, and no client when it is closed.
    pub fn is_active(&self) -> bool {
        let is_usable = match &self.kind {
            Kind::One(host) => host.is_active(),
            Kind::Failover(_) | Kind::Balance(_) => true,
        };
        is_usable && !*self.closed.borrow()
    }

    /// Sends one event and waits until it is stored.
    ///
    /// # Errors
    /// It is not stored, or nobody knows.
    pub async fn append(&self, headers: Headers, body: impl Into<Bytes>) -> Result<(), RpcError> {
        let mut batch = Batch::with_capacity(1);
        batch.push(headers, body);
        self.call(&batch, 0..1, true).await
    }

    /// Sends events, in calls of at most the batch size, and waits until all are stored.
    ///
    /// # Errors
    /// A call has failed; those before it have stored their events.
    pub async fn append_batch(&self, batch: &Batch) -> Result<(), RpcError> {
        let mut start = 0;
        while start < batch.len() {
            let end = (start + self.batch_size).min(batch.len());
            self.call(batch, start..end, false).await?;
            start = end;
        }
        Ok(())
    }

    /// Ends all connections, and with them calls under way. Further calls fail, and do not connect anew.
    pub async fn close(&self) {
        self.closed.send_replace(true);
        match &self.kind {
            Kind::One(host) => host.close(),
            Kind::Failover(state) => state.lock().await.current = None,
            Kind::Balance(state) => state.lock().await.open.fill_with(|| None),
        }
    }

    async fn call(&self, batch: &Batch, range: Range<usize>, single: bool) -> Result<(), RpcError> {
        let mut closed = self.closed.subscribe();
        let call = async {
            match &self.kind {
                Kind::One(host) => host.call(batch, range, single).await,
                Kind::Failover(state) => state.lock().await.call(batch, range, single).await,
                Kind::Balance(state) => state.lock().await.call(batch, range, single).await,
            }
        };
        tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Err(RpcError::new(&self.peers, Why::Closed)),
            done = call => done,
        }
    }
}

impl Hosts {
    /// For messages.
    fn names(&self) -> String {
        self.targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ")
    }

    async fn connect(&self, host: usize) -> Result<Host, RpcError> {
        Host::connect(self.targets[host].clone(), &self.speech).await
    }
}

impl FailoverState {
    /// The host in use, or the next one that takes a connection.
    async fn connect(&mut self) -> Result<(), RpcError> {
        if self.current.as_ref().is_some_and(Host::is_active) {
            return Ok(());
        }
        self.current = None;
        let mut last = RpcError::new(self.hosts.names(), Why::Closed);
        for host in self.policy.round() {
            match self.hosts.connect(host).await {
                Ok(client) => {
                    self.policy.connected(host);
                    self.current = Some(client);
                    return Ok(());
                }
                Err(error) => last = error,
            }
        }
        self.policy.none_connected();
        Err(last)
    }

    async fn call(&mut self, batch: &Batch, range: Range<usize>, single: bool) -> Result<(), RpcError> {
        let mut attempts = 0;
        loop {
            self.connect().await?;
            let Some(host) = &self.current else {
                return Err(RpcError::new(self.hosts.names(), Why::Closed));
            };
            let Err(error) = host.call(batch, range.clone(), single).await else { return Ok(()) };
            self.current = None;
            attempts += 1;
            if attempts >= self.max_attempts {
                return Err(error);
            }
            tracing::warn!(%error, "the next host is tried");
        }
    }
}

impl BalanceState {
    async fn call(&mut self, batch: &Batch, range: Range<usize>, single: bool) -> Result<(), RpcError> {
        let all_out = Why::Settings(
            "no host can be tried now: all have failed and are left out for a while".to_owned(),
        );
        let mut last = RpcError::new(self.hosts.names(), all_out);
        for host in self.policy.turn(Instant::now()) {
            match self.try_host(host, batch, range.clone(), single).await {
                Ok(()) => return Ok(()),
                Err(error) => {
                    tracing::warn!(%error, "the next host is tried");
                    self.open[host] = None;
                    self.policy.failed(host, Instant::now());
                    last = error;
                }
            }
        }
        Err(last)
    }

    async fn try_host(
        &mut self,
        host: usize,
        batch: &Batch,
        range: Range<usize>,
        single: bool,
    ) -> Result<(), RpcError> {
        if !self.open[host].as_ref().is_some_and(Host::is_active) {
            self.open[host] = None;
        }
        let client = match &mut self.open[host] {
            Some(client) => client,
            none => none.insert(self.hosts.connect(host).await?),
        };
        client.call(batch, range, single).await
    }
}

impl fmt::Debug for RpcClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcClient").field("batch_size", &self.batch_size).finish_non_exhaustive()
    }
}
