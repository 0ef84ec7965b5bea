//! The connections to one host.

use crate::{
    avro,
    error::{RpcError, Why},
    net::{ConnectError, Target, dial},
    thrift,
};
use flumen_core::event::Batch;
use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, time::timeout};
use tokio_rustls::TlsConnector;

/// How a host is spoken to.
#[derive(Clone)]
pub(super) enum Speech {
    Avro(avro::Options),
    Thrift {
        protocol: thrift::Protocol,
        tls: Option<TlsConnector>,
        connect_timeout: Duration,
        request_timeout: Duration,
        max_connections: usize,
    },
}

/// A connection of either protocol.
#[derive(Debug)]
enum Link {
    Avro(Box<avro::Client>),
    Thrift(thrift::Connection),
}

/// The client of one host. With Avro it has one connection, made at once, and after a failure it is of no use; with Thrift it
/// has several, made when they are needed.
pub(super) struct Host {
    target: Target,
    speech: Speech,
    idle: Mutex<Vec<Link>>,
    /// Calls that may be made at the same time; closed with the client.
    calls: Semaphore,
    dead: AtomicBool,
}

impl Host {
    pub(super) async fn connect(target: Target, speech: &Speech) -> Result<Self, RpcError> {
        let (idle, n_calls) = match speech {
            Speech::Avro(options) => {
                let client = avro::Client::connect(&target, options).await?;
                (vec![Link::Avro(Box::new(client))], 1)
            }
            Speech::Thrift { max_connections, .. } => (Vec::new(), *max_connections),
        };
        Ok(Self {
            target,
            speech: speech.clone(),
            idle: Mutex::new(idle),
            calls: Semaphore::new(n_calls),
            dead: AtomicBool::new(false),
        })
    }

    /// Whether calls can be made.
    pub(super) fn is_active(&self) -> bool {
        !self.dead.load(Ordering::Relaxed) && !self.calls.is_closed()
    }

    /// Sends one event, or a part of the batch, and waits until it is stored.
    pub(super) async fn call(
        &self,
        batch: &Batch,
        range: Range<usize>,
        single: bool,
    ) -> Result<(), RpcError> {
        let closed = || RpcError::new(&self.target, Why::Closed);
        let _permit = self.calls.acquire().await.map_err(|_| closed())?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut link = match (idle, &self.speech) {
            (Some(link), _) => link,
            (None, Speech::Avro(_)) => return Err(closed()),
            (None, Speech::Thrift { protocol, tls, connect_timeout, .. }) => {
                let stream = dial(&self.target, tls.as_ref(), *connect_timeout).await;
                let connected = |error: ConnectError| RpcError::new(&self.target, Why::Connect(error));
                Link::Thrift(thrift::Connection::new(stream.map_err(connected)?, *protocol))
            }
        };
        // A call that is dropped leaves the connection behind, and a client of Avro without one.
        let done = self.call_over(&mut link, batch, range, single).await;
        let (is_sound, result) = match done {
            Ok(()) => (true, Ok(())),
            Err((is_sound, error)) => (is_sound, Err(error)),
        };
        if is_sound && !self.calls.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(link);
        }
        if result.is_err() && matches!(self.speech, Speech::Avro(_)) {
            self.dead.store(true, Ordering::Relaxed);
        }
        result
    }

    /// The call; with its error whether the connection can be used on.
    async fn call_over(
        &self,
        link: &mut Link,
        batch: &Batch,
        range: Range<usize>,
        single: bool,
    ) -> Result<(), (bool, RpcError)> {
        match (link, &self.speech) {
            (Link::Avro(client), _) => {
                let sent = match batch.get(range.start) {
                    Some(event) if single => client.append(event).await,
                    _ if range == (0..batch.len()) => client.append_batch(batch).await,
                    _ => client.append_batch(&batch.slice(range)).await,
                };
                sent.map_err(|error| (false, error))
            }
            (Link::Thrift(connection), Speech::Thrift { request_timeout, .. }) => {
                let call = async {
                    match single {
                        true => connection.append(batch, range.start).await,
                        false => connection.append_batch(batch, range).await,
                    }
                };
                match timeout(*request_timeout, call).await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(error)) => {
                        Err((error.keeps_connection(), RpcError::new(&self.target, why(error))))
                    }
                    Err(_) => {
                        let late = Why::Late("did not answer", *request_timeout);
                        Err((false, RpcError::new(&self.target, late)))
                    }
                }
            }
            (Link::Thrift(_), Speech::Avro(_)) => Err((false, RpcError::new(&self.target, Why::Closed))),
        }
    }

    /// Ends the connections. A call under way is not waited for: it ends by its own limit.
    pub(super) fn close(&self) {
        self.calls.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn why(error: thrift::CallError) -> Why {
    match error {
        thrift::CallError::Io(error) => Why::Broken(error),
        thrift::CallError::Closed => Why::Closed,
        thrift::CallError::Status(status) => Why::Remote(format!("the status {status:?}")),
        thrift::CallError::Exception(text) => Why::Remote(text),
        other => Why::Protocol(other.to_string()),
    }
}
