//! Takes events from Flume's Avro clients and sinks: each call is one batch, and its answer says whether it was stored.
//!
//! Delivery: at least once. A call is answered with OK when every required channel has committed all of its events. Calls that a
//! client sends on without waiting are stored and answered in their order; behind one that failed nothing more is stored for a
//! client that counts on it, as Flumen's sinks do.
//! Transient failure (full channel): the status FAILED, nothing is stored, the client sends again.
//! Permanent failure (what is no call): an error of the protocol, or, where not even frames are read, the connection is closed.
//! A port in use: an error, and the source is started again after a pause.
//! Duplicates: all events of a call whose answer did not reach its client, as the client sends it again.
//! Deduplication key: whatever the client puts into headers, else none.

mod config;
mod filter;
#[cfg(test)]
mod tests;

pub use config::{AskClients, AvroSourceConfig};
pub use filter::Rules;

use crate::shared::local_host;
use filter::Verdict;
use flumen_core::{
    metrics::Counter,
    processor::{ChannelProcessor, PutError},
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_rpc::{
    avro::{Begun, Budget, Call, Method, Outcome, Service, Shared, Status, serve},
    net::{Accepted, Compression, Listener, ServerLimits, acceptor, bind},
};
use flumen_tls::{
    Password,
    tls::{ClientAuth, StoreFile, TlsSettings},
};
use std::{
    future::Future,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{sync::watch, task::spawn_blocking, time::timeout};

/// Connections that wait to be accepted, as in Java.
const BACKLOG: u32 = 1024;
/// The level that Java's source answers with.
const LEVEL: u32 = 6;
/// How long a name server may take; a peer whose name is not found in time has none.
const NAME_LIMIT: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Debug)]
pub struct AvroSource {
    name: Arc<str>,
    bind: String,
    port: u16,
    /// The property that names the port, for messages.
    port_key: String,
    tls: Option<TlsSettings>,
    rules: Option<Rules>,
    limits: ServerLimits,
    shared: Shared,
    context: SourceContext,
    address: watch::Sender<Option<SocketAddr>>,
}

impl AvroSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }
}

impl SourceType for AvroSource {
    const NAMES: &'static [&'static str] = &["avro", "org.apache.flume.source.AvroSource"];
    const SUMMARY: &'static str = "Takes events from Avro sinks and clients.";
    type Config = AvroSourceConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sources.{}.{key}", common.agent, common.name);
        if config.ip_filter && config.ip_filter_rules.is_none() {
            let (filter, rules) = (key("ipFilter"), key("ipFilterRules"));
            return Err(BuildError::new(format!("{filter} = true needs {rules}")));
        }
        if config.max_buffered_bytes.0 < config.max_frame_bytes.0 {
            let (low, high) = (key("maxBufferedBytes"), key("maxFrameBytes"));
            return Err(BuildError::new(format!(
                "{low} must be at least {high} ({})",
                config.max_frame_bytes.0
            )));
        }
        let compression = Compression { level: LEVEL, within_tls: config.compression_within_tls };
        Ok(Self {
            name: common.name.clone(),
            bind: config.bind.trim().to_owned(),
            port: config.port.0,
            port_key: key("port"),
            tls: tls_of(&config, context, &key)?,
            limits: ServerLimits {
                max_connections: config.max_connections as usize,
                compression: config.compression_type.0.then_some(compression),
                ..ServerLimits::default()
            },
            shared: Shared {
                max_frame_bytes: usize::try_from(config.max_frame_bytes.0).unwrap_or(usize::MAX),
                max_pause: config.max_pause.duration(),
                budget: Budget::new(config.max_buffered_bytes.0),
                known: Arc::default(),
            },
            rules: config.ip_filter_rules.filter(|_| config.ip_filter),
            context: context.clone(),
            address: watch::Sender::new(None),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.bind.trim().to_owned();
        let listening = Listening { host, port: config.port.0, transport: Transport::Tcp, key: "port" };
        // Its clients send headers of their own.
        Facts { listens: vec![listening], sets_timestamp: true, ..Facts::default() }
    }
}

/// TLS with what goes beyond Java's settings: certificates of clients.
fn tls_of(
    config: &AvroSourceConfig,
    context: &SourceContext,
    key: &dyn Fn(&str) -> String,
) -> Result<Option<TlsSettings>, BuildError> {
    let environment = &context.common.environment;
    let client_auth = config.client_auth.0;
    let Some(settings) = config.tls.settings(environment, key)? else {
        if client_auth != ClientAuth::None {
            return Err(BuildError::new(format!("{} needs {} = true", key("client-auth"), key("ssl"))));
        }
        return Ok(None);
    };
    if client_auth == ClientAuth::None {
        return Ok(Some(settings));
    }
    let global = |property: &str, variable: &str| {
        let variable = environment.variables.get(variable).map(String::as_str);
        environment.property(property).or(variable).map(str::to_owned)
    };
    let path =
        config.truststore.clone().or_else(|| global("javax.net.ssl.trustStore", "FLUME_SSL_TRUSTSTORE_PATH"));
    let trust_store = path.map(|path| {
        let password = config.truststore_password.as_ref().map(|secret| secret.reveal().to_owned());
        let password =
            password.or_else(|| global("javax.net.ssl.trustStorePassword", "FLUME_SSL_TRUSTSTORE_PASSWORD"));
        let type_name = config.truststore_type.clone();
        let type_name =
            type_name.or_else(|| global("javax.net.ssl.trustStoreType", "FLUME_SSL_TRUSTSTORE_TYPE"));
        StoreFile { path: path.into(), password: password.map(Password::new), type_name }
    });
    Ok(Some(TlsSettings { client_auth, trust_store, ..settings }))
}

impl Source for AvroSource {
    async fn run(&mut self, out: ChannelProcessor, shutdown: Shutdown) -> Result<(), SourceError> {
        let tls = match &self.tls {
            None => None,
            Some(settings) => Some(acceptor(settings).await.map_err(SourceError::new)?),
        };
        let local = self.local_address().await;
        let (host, port) = (&self.bind, self.port);
        let socket = bind(host, port, BACKLOG).await.map_err(|error| {
            let key = &self.port_key;
            let what =
                format!("cannot open the server socket on {host} port {port} (choose another with {key})");
            SourceError::with(what, error)
        })?;
        if let Ok(address) = socket.local_addr() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*self.name, %address, tls = tls.is_some(), "listens for Avro");
        }
        let metrics = self.context.metrics.clone();
        let listener =
            Listener { name: self.name.clone(), socket, tls, limits: self.limits.clone(), metrics };
        let receiver = Arc::new(Receiver { name: self.name.clone(), out, refused: Arc::default() });
        let (rules, shared) = (self.rules.clone(), self.shared.clone());
        let connection = move |accepted: Accepted| {
            let (rules, shared, receiver) = (rules.clone(), shared.clone(), receiver.clone());
            async move {
                let peer = accepted.peer.ip();
                if let Some(rules) = &rules
                    && rules.judge(peer, None, local) == Verdict::NeedsName
                {
                    let name = timeout(NAME_LIMIT, spawn_blocking(move || filter::name_of(peer))).await;
                    let name = name.ok().and_then(Result::ok).unwrap_or_else(|| local_host::shown(peer));
                    if rules.judge(peer, Some(&name), local) == Verdict::Denied {
                        return Err(format!("refused by ipFilterRules: its name is {name}"));
                    }
                }
                serve(accepted, receiver, &shared).await
            }
        };
        let rules = self.rules.clone();
        let admit = move |peer: SocketAddr| {
            rules.as_ref().is_none_or(|rules| rules.judge(peer.ip(), None, local) != Verdict::Denied)
        };
        listener.serve(shutdown, admit, connection).await;
        self.address.send_replace(None);
        Ok(())
    }
}

impl AvroSource {
    /// The address of this machine, where a rule asks for it.
    async fn local_address(&self) -> Option<IpAddr> {
        if !self.rules.as_ref().is_some_and(Rules::name_local_host) {
            return None;
        }
        let found = timeout(NAME_LIMIT, spawn_blocking(local_host::address)).await;
        let found = found.ok().and_then(Result::ok).and_then(Result::ok);
        if found.is_none() {
            tracing::warn!(
                source = &*self.name,
                "this machine's name has no address: `name:localhost` is 127.0.0.1 only"
            );
        }
        found
    }
}

/// Puts what is called.
#[derive(Debug)]
struct Receiver {
    name: Arc<str>,
    out: ChannelProcessor,
    refused: Arc<Seldom>,
}

impl Service for Receiver {
    async fn begin(
        &self,
        Call { method, batch }: Call,
    ) -> Begun<impl Future<Output = Outcome> + Send + 'static> {
        let metrics = self.out.metrics();
        counter(method, &metrics.append_received, &metrics.batch_received).add(1);
        match self.out.begin(batch).await {
            Err(error) => Begun::Over(refuse(&self.name, &self.refused, method, &error)),
            Ok(pending) => {
                let (name, out, refused) = (self.name.clone(), self.out.clone(), self.refused.clone());
                Begun::AtWork(async move {
                    if let Err(error) = pending.await {
                        return refuse(&name, &refused, method, &error);
                    }
                    let metrics = out.metrics();
                    counter(method, &metrics.append_accepted, &metrics.batch_accepted).add(1);
                    Outcome::Status(Status::Ok)
                })
            }
        }
    }
}

/// Java's answers: FAILED for what a channel says and for any batch, an error of the protocol for other faults of `append`.
fn refuse(name: &str, refused: &Seldom, method: Method, error: &PutError) -> Outcome {
    if let Some(unsaid) = refused.due() {
        tracing::warn!(source = name, %error, unsaid, "a call was refused; its client may send it again");
    }
    match (error.channel_error(), method) {
        (None, Method::Append) => Outcome::Error(format!("org.apache.avro.AvroRuntimeException: {error}")),
        _ => Outcome::Status(Status::Failed),
    }
}

fn counter<'a>(method: Method, append: &'a Counter, batch: &'a Counter) -> &'a Counter {
    match method {
        Method::Append => append,
        Method::AppendBatch => batch,
    }
}
