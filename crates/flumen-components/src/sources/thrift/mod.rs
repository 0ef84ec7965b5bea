//! Takes events from Flume's Thrift clients and sinks: each call is one batch, and its answer says whether it was stored.
//!
//! Delivery: at least once. A call is answered with OK when every required channel has committed all of its events.
//! Transient failure (full channel): the status FAILED, nothing is stored, the client sends again.
//! Permanent failure (what is no call): an exception of the protocol where it can be answered, and the connection is closed.
//! A port in use: an error, and the source is started again after a pause.
//! Duplicates: all events of a call whose answer did not reach its client, as the client sends it again.
//! Deduplication key: whatever the client puts into headers, else none.

mod config;

pub use config::ThriftSourceConfig;

use flumen_core::{
    metrics::Counter,
    processor::{ChannelProcessor, PendingPut, PutError},
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_rpc::{
    net::{Accepted, Listener, ServerLimits, acceptor, bind},
    thrift::{Answer, Call, Memory, Method, Service, Status, serve},
};
use flumen_tls::tls::TlsSettings;
use std::{future::Future, net::SocketAddr, sync::Arc};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// See the module.
#[derive(Debug)]
pub struct ThriftSource {
    name: Arc<str>,
    config: ThriftSourceConfig,
    /// The property that names the port, for messages.
    port_key: String,
    tls: Option<TlsSettings>,
    context: SourceContext,
    address: watch::Sender<Option<SocketAddr>>,
}

impl ThriftSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }
}

impl SourceType for ThriftSource {
    const NAMES: &'static [&'static str] = &["thrift", "org.apache.flume.source.ThriftSource"];
    const SUMMARY: &'static str = "Takes events from Thrift sinks and clients.";
    type Config = ThriftSourceConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sources.{}.{key}", common.agent, common.name);
        Ok(Self {
            name: common.name.clone(),
            tls: config.tls.settings(&common.environment, &key)?,
            port_key: key("port"),
            config,
            context: context.clone(),
            address: watch::Sender::new(None),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        let listens = Listening {
            host: config.bind.clone(),
            port: config.port.0,
            transport: Transport::Tcp,
            key: "port",
        };
        // Its clients send headers of their own.
        Facts { listens: vec![listens], sets_timestamp: true, ..Facts::default() }
    }
}

impl Source for ThriftSource {
    async fn run(&mut self, out: ChannelProcessor, shutdown: Shutdown) -> Result<(), SourceError> {
        let tls = match &self.tls {
            None => None,
            Some(settings) => Some(acceptor(settings).await.map_err(SourceError::new)?),
        };
        let (host, port, key) = (self.config.bind.trim(), self.config.port.0, &self.port_key);
        let socket = bind(host, port, BACKLOG).await.map_err(|error| {
            let what = format!("cannot listen on {host} port {port} (choose another with {key})");
            SourceError::with(what, error)
        })?;
        if let Ok(address) = socket.local_addr() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*self.name, %address, tls = tls.is_some(), "listens for Thrift");
        }
        let limits =
            ServerLimits { max_connections: self.config.max_connections as usize, ..ServerLimits::default() };
        let metrics = self.context.metrics.clone();
        let listener = Listener { name: self.name.clone(), socket, tls, limits, metrics };
        let threads = usize::try_from(self.config.threads).unwrap_or(0);
        let calls = (threads > 0).then(|| Arc::new(Semaphore::new(threads.min(Semaphore::MAX_PERMITS))));
        let receiver = Arc::new(Receiver { name: self.name.clone(), out, calls, refused: Arc::default() });
        let protocol = self.config.protocol;
        let max_bytes = usize::try_from(self.config.max_frame_bytes.0).unwrap_or(usize::MAX);
        let memory = Memory::new(self.config.max_buffered_bytes.0);
        let connection =
            move |accepted: Accepted| serve(accepted, receiver.clone(), protocol, max_bytes, memory.clone());
        listener.serve(shutdown, |_| true, connection).await;
        Ok(())
    }
}

/// Puts what is called.
#[derive(Debug)]
struct Receiver {
    name: Arc<str>,
    out: ChannelProcessor,
    /// The calls that may be at work.
    calls: Option<Arc<Semaphore>>,
    refused: Arc<Seldom>,
}

impl Service for Receiver {
    async fn begin(&self, call: Call) -> impl Future<Output = Answer> + Send + 'static {
        let permit = match &self.calls {
            Some(calls) => calls.clone().acquire_owned().await.ok(),
            None => None,
        };
        let metrics = self.out.metrics();
        counter(call.method, &metrics.append_received, &metrics.batch_received).add(1);
        let begun = self.out.begin(call.batch).await;
        let put = Put {
            name: self.name.clone(),
            out: self.out.clone(),
            method: call.method,
            permit,
            refused: self.refused.clone(),
        };
        put.answer(begun)
    }
}

/// A call at work.
struct Put {
    name: Arc<str>,
    out: ChannelProcessor,
    method: Method,
    permit: Option<OwnedSemaphorePermit>,
    refused: Arc<Seldom>,
}

impl Put {
    async fn answer(self, begun: Result<PendingPut, PutError>) -> Answer {
        let stored = match begun {
            Ok(pending) => pending.await,
            Err(error) => Err(error),
        };
        drop(self.permit);
        let metrics = self.out.metrics();
        match stored {
            Ok(()) => {
                counter(self.method, &metrics.append_accepted, &metrics.batch_accepted).add(1);
                Answer::Status(Status::Ok)
            }
            Err(error) => {
                if let Some(unsaid) = self.refused.due() {
                    let source = &*self.name;
                    tracing::warn!(source, %error, unsaid, "a call was refused; its client may send it again");
                }
                match error.channel_error() {
                    Some(_) => Answer::Status(Status::Failed),
                    None => Answer::Internal(format!("Internal error processing {}", self.method.name())),
                }
            }
        }
    }
}

fn counter<'a>(method: Method, append: &'a Counter, batch: &'a Counter) -> &'a Counter {
    match method {
        Method::Append => append,
        Method::AppendBatch => batch,
    }
}

#[cfg(test)]
mod tests;
