//! The client's side of a connection: calls one by one, or several at a time.

use super::{
    events,
    frame::{self, Budget, FrameError, FrameReader},
    handshake::{HandshakeRequest, HandshakeResponse, Match},
    protocol::{HASH, MAX_TEXT_BYTES, Method, Status, TEXT, statuses},
    wire::{Reader, WireError, put_bytes},
};
use crate::{
    error::{RpcError, Why},
    net::{Compression, ReadHalf, Target, WriteHalf, open},
};
use bytes::Bytes;
use flumen_core::event::{Batch, Event};
use std::{fmt, sync::Arc, time::Duration};
use tokio::{
    io::AsyncWriteExt,
    time::{Instant, timeout_at},
};
use tokio_rustls::TlsConnector;

/// The longest answer: a server's protocol, or an error text with a Java stack in it.
const MAX_ANSWER_BYTES: usize = MAX_TEXT_BYTES * 4;
/// The room for encoded calls that a connection keeps between them.
const KEPT_BYTES: usize = 4 << 20;

/// How a client connects.
#[derive(Clone)]
pub struct Options {
    /// TLS, where it is wanted.
    pub tls: Option<TlsConnector>,
    /// Compression, where it is wanted.
    pub compression: Option<Compression>,
    /// How long the connection, and then the first call with its handshake, may take each.
    pub connect_timeout: Duration,
    /// How long each further call may take.
    pub request_timeout: Duration,
    /// Whether to ask the server to store calls in the order in which they are sent. Flumen does; Java overlooks it.
    pub ask_for_order: bool,
}

impl Default for Options {
    /// Flume's: no layers, 20 s for both.
    fn default() -> Self {
        Self {
            tls: None,
            compression: None,
            connect_timeout: Duration::from_secs(20),
            request_timeout: Duration::from_secs(20),
            ask_for_order: true,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("tls", &self.tls.is_some())
            .field("compression", &self.compression)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}

/// A connection that makes one call at a time. After an error it is of no use, but after the answer of a server that does not keep
/// the order of calls.
#[derive(Debug)]
pub struct Client {
    sender: Sender,
    receiver: Receiver,
    connect_timeout: Duration,
    request_timeout: Duration,
    /// The handshake, until it is done.
    handshake: Option<HandshakeRequest>,
    keeps_order: bool,
    usable: bool,
}

/// The half that sends calls.
#[derive(Debug)]
pub struct Sender {
    peer: Arc<str>,
    writer: WriteHalf,
    serial: i32,
    /// The call that is being sent.
    out: Vec<u8>,
}

/// The half that receives answers.
#[derive(Debug)]
pub struct Receiver {
    peer: Arc<str>,
    reader: ReadHalf,
    frames: FrameReader,
    statuses: Vec<Status>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// The call that it is to.
    pub serial: i32,
    /// Whether the events are stored; if not, a status or the server's words.
    pub outcome: Result<(), Why>,
}

impl Client {
    /// Connects; the handshake comes with the first call.
    ///
    /// # Errors
    /// There is no connection, or no TLS, within the time.
    pub async fn connect(target: &Target, options: &Options) -> Result<Self, RpcError> {
        let stream = open(target, options.tls.as_ref(), options.compression, options.connect_timeout).await;
        let stream = stream.map_err(|error| RpcError::new(target, Why::Connect(error)))?;
        let peer: Arc<str> = target.to_string().into();
        let (reader, writer) = stream.into_split();
        let budget = Budget::new(u64::MAX);
        Ok(Self {
            sender: Sender { peer: peer.clone(), writer, serial: 0, out: Vec::new() },
            receiver: Receiver {
                peer,
                reader,
                frames: FrameReader::new(MAX_ANSWER_BYTES, budget),
                statuses: Status::ALL.map(|(status, _)| status).into(),
            },
            connect_timeout: options.connect_timeout,
            request_timeout: options.request_timeout,
            handshake: Some(HandshakeRequest {
                client_hash: HASH,
                client_protocol: None,
                server_hash: HASH,
                keeps_order: options.ask_for_order,
            }),
            keeps_order: false,
            usable: true,
        })
    }

    /// Sends one event and waits until it is stored.
    ///
    /// # Errors
    /// It is not stored, or nobody knows.
    pub async fn append(&mut self, event: Event<'_>) -> Result<(), RpcError> {
        self.call(Method::Append, |out| events::put_event(event, out)).await
    }

    /// Sends a batch as one call and waits until it is stored.
    ///
    /// # Errors
    /// It is not stored, or nobody knows.
    pub async fn append_batch(&mut self, batch: &Batch) -> Result<(), RpcError> {
        self.call(Method::AppendBatch, |out| events::put_batch(batch, out)).await
    }

    /// Whether further calls can be made. After most failures the state of the connection is not known.
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// Whether the server has said, in the handshake of the first call, that it stores calls in the order in which they are sent.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// The two halves, for several calls at a time. The first call must have been made.
    ///
    /// # Errors
    /// There was no handshake yet.
    pub fn split(self) -> Result<(Sender, Receiver), RpcError> {
        match self.handshake {
            None => Ok((self.sender, self.receiver)),
            Some(_) => {
                Err(RpcError::new(&self.sender.peer, Why::Protocol("there was no handshake yet".to_owned())))
            }
        }
    }

    /// Ends the connection in an orderly way.
    pub async fn close(mut self) {
        self.sender.close().await;
    }

    async fn call(&mut self, method: Method, put: impl Fn(&mut Vec<u8>)) -> Result<(), RpcError> {
        if !self.usable {
            return Err(RpcError::new(&self.sender.peer, Why::Closed));
        }
        // Until the end is reached, also when this future is dropped, nobody knows what the peer will answer to.
        self.usable = false;
        let limit = if self.handshake.is_some() { self.connect_timeout } else { self.request_timeout };
        let deadline = Instant::now() + limit;
        let peer = self.sender.peer.clone();
        let done = timeout_at(deadline, self.exchange(method, put)).await;
        let outcome = done.map_err(|_| RpcError::new(&peer, Why::Late("did not answer", limit)))??;
        // A server that keeps the order stores nothing more over this connection once a call has failed.
        self.usable = outcome.is_ok() || !self.keeps_order;
        outcome.map_err(|why| RpcError::new(&peer, why))
    }

    /// Sends the call, again with our protocol where the server asks for it.
    async fn exchange(
        &mut self,
        method: Method,
        put: impl Fn(&mut Vec<u8>),
    ) -> Result<Result<(), Why>, RpcError> {
        loop {
            let serial = self.sender.send_call(self.handshake.as_ref(), method, &put).await?;
            let (answered, payload) = self.receiver.message().await?;
            if answered != serial {
                let what = format!("the answer to call {answered} came to call {serial}");
                return Err(self.receiver.protocol(what));
            }
            let mut reader = Reader::new(&payload);
            if self.handshake.is_some() && self.shake(&mut reader)? == Match::None {
                continue;
            }
            return self.receiver.outcome(&mut reader);
        }
    }

    fn shake(&mut self, reader: &mut Reader<'_>) -> Result<Match, RpcError> {
        let response = HandshakeResponse::read(reader)
            .map_err(|error| self.receiver.protocol(format!("in the handshake, {error}")))?;
        if response.matched == Match::None {
            let Some(request) = &mut self.handshake else { return Ok(response.matched) };
            if request.client_protocol.is_some() {
                return Err(self.receiver.protocol("it does not take our protocol".to_owned()));
            }
            request.client_protocol = Some(TEXT.as_bytes().to_vec());
            request.server_hash = response.server_hash.unwrap_or(request.server_hash);
            return Ok(response.matched);
        }
        if let Some(text) = &response.server_protocol {
            self.receiver.statuses = statuses(text).map_err(|error| self.receiver.protocol(error))?;
        }
        self.keeps_order = response.keeps_order;
        self.handshake = None;
        Ok(response.matched)
    }
}

impl Sender {
    /// The number that the next call will bear.
    pub fn next_serial(&self) -> i32 {
        self.serial.wrapping_add(1)
    }

    /// Sends a batch as one call, and gives the number that its answer will bear. A connection whose call was cut off, by an error
    /// or by dropping, is of no use.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn send(&mut self, batch: &Batch) -> Result<i32, RpcError> {
        self.send_call(None, Method::AppendBatch, |out| events::put_batch(batch, out)).await
    }

    /// Ends our side of the connection.
    pub async fn close(&mut self) {
        // The peer may be gone already, which is as good.
        let _ = self.writer.shutdown().await;
    }

    async fn send_call(
        &mut self,
        handshake: Option<&HandshakeRequest>,
        method: Method,
        put: impl Fn(&mut Vec<u8>),
    ) -> Result<i32, RpcError> {
        self.serial = self.serial.wrapping_add(1);
        self.out.clear();
        let start = frame::begin(self.serial, &mut self.out);
        if let Some(handshake) = handshake {
            handshake.put(&mut self.out);
        }
        // No metadata.
        self.out.push(0);
        put_bytes(&mut self.out, method.name().as_bytes());
        put(&mut self.out);
        if i32::try_from(self.out.len()).is_err() {
            let what = format!("a call of {} bytes is too long for it", self.out.len());
            return Err(RpcError::new(&self.peer, Why::Protocol(what)));
        }
        frame::end(start, &mut self.out);
        let sent = async {
            self.writer.write_all(&self.out).await?;
            self.writer.flush().await
        };
        sent.await.map_err(|error| RpcError::new(&self.peer, Why::Broken(error)))?;
        self.out.clear();
        self.out.shrink_to(KEPT_BYTES);
        Ok(self.serial)
    }
}

impl Receiver {
    /// The peer's `host:port`.
    pub fn peer(&self) -> &str {
        &self.peer
    }

    /// The next answer. Nothing is lost when it is dropped before it is done.
    ///
    /// # Errors
    /// The connection broke or ended, or what comes is no answer.
    pub async fn next(&mut self) -> Result<Reply, RpcError> {
        let (serial, payload) = self.message().await?;
        let outcome = self.outcome(&mut Reader::new(&payload))?;
        Ok(Reply { serial, outcome })
    }

    async fn message(&mut self) -> Result<(i32, Bytes), RpcError> {
        match self.frames.next(&mut self.reader).await {
            Ok(Some(frame)) => Ok((frame.serial, frame.payload)),
            Ok(None) => Err(RpcError::new(&self.peer, Why::Closed)),
            Err(FrameError::Io(error)) => Err(RpcError::new(&self.peer, Why::Broken(error))),
            Err(error) => Err(self.protocol(error.to_string())),
        }
    }

    fn outcome(&self, reader: &mut Reader<'_>) -> Result<Result<(), Why>, RpcError> {
        let answer = |reader: &mut Reader<'_>| -> Result<Result<(), Why>, WireError> {
            reader.map(|_, _| ())?;
            if reader.byte()? != 0 {
                return match reader.long()? {
                    0 => Ok(Err(Why::Remote(shorten(reader.bytes()?)))),
                    other => Err(WireError::Branch(other, "an error")),
                };
            }
            let at = reader.long()?;
            let status = usize::try_from(at).ok().and_then(|at| self.statuses.get(at));
            match status.ok_or(WireError::Branch(at, "a status"))? {
                Status::Ok => Ok(Ok(())),
                other => Ok(Err(Why::Status(*other))),
            }
        };
        answer(reader).map_err(|error| self.protocol(format!("in an answer, {error}")))
    }

    fn protocol(&self, what: String) -> RpcError {
        RpcError::new(&self.peer, Why::Protocol(what))
    }
}

/// A peer's words as a log line has them.
fn shorten(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let short: String = text.chars().take(500).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
