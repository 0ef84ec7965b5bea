//! Recorded bytes of Java's peers, hostile bytes, and client and server against each other.

mod calls;
mod frames;
mod hostile;
mod recorded;
mod wait;

use super::*;
use crate::net::{Accepted, Compression, Target};
use bytes::Bytes;
use flumen_core::{
    event::{Batch, Headers},
    source::Shutdown,
};
use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const LIMIT: Duration = Duration::from_secs(20);

/// Says what becomes of a call.
type Rule = dyn Fn(&Call, &Batch) -> Outcome + Send + Sync;

/// A channel in memory, with a rule.
struct Store {
    stored: Mutex<Batch>,
    calls: Mutex<Vec<Method>>,
    rule: Box<Rule>,
    /// How long a call is at work.
    takes: Mutex<Duration>,
}

impl Store {
    fn new(rule: impl Fn(&Call, &Batch) -> Outcome + Send + Sync + 'static) -> Arc<Self> {
        let (stored, calls, takes) = Default::default();
        Arc::new(Self { stored, calls, rule: Box::new(rule), takes })
    }

    fn open() -> Arc<Self> {
        Self::new(|_, _| Outcome::Status(Status::Ok))
    }

    fn stored(&self) -> Batch {
        self.stored.lock().unwrap().clone()
    }
}

impl Service for Store {
    async fn begin(&self, call: Call) -> Begun<impl Future<Output = Outcome> + Send + 'static> {
        self.calls.lock().unwrap().push(call.method);
        let outcome = {
            let mut stored = self.stored.lock().unwrap();
            let outcome = (self.rule)(&call, &stored);
            if outcome == Outcome::Status(Status::Ok) {
                stored.append(call.batch.filtered(|_, event| event.headers.get("drop").is_none()));
            }
            outcome
        };
        if outcome != Outcome::Status(Status::Ok) {
            return Begun::Over(outcome);
        }
        let takes = *self.takes.lock().unwrap();
        Begun::AtWork(async move {
            wait::pass(takes).await;
            outcome
        })
    }
}

/// A server on a port of its own, which ends with it.
struct Server {
    target: Target,
    ended: Arc<Mutex<Vec<Result<(), String>>>>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(store: &Arc<Store>, shared: Shared) -> Self {
        Self::compressed(store, shared, None).await
    }

    async fn compressed(store: &Arc<Store>, shared: Shared, compression: Option<Compression>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ended = Arc::new(Mutex::new(Vec::new()));
        let (store, ends) = (store.clone(), ended.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (_stop, shutdown) = Shutdown::new();
            let mut connections = JoinSet::new();
            while let Ok((stream, peer)) = listener.accept().await {
                let stream: crate::net::BoxIo = match compression {
                    None => Box::new(stream),
                    Some(compression) => Box::new(crate::net::Deflate::new(stream, compression.level)),
                };
                let accepted = Accepted { stream, peer, shutdown: shutdown.clone() };
                let (store, shared, ends) = (store.clone(), shared.clone(), ends.clone());
                connections.spawn(async move {
                    let end = serve(accepted, store, &shared).await;
                    ends.lock().unwrap().push(end);
                });
            }
        });
        Self { target: Target { host: "127.0.0.1".into(), port }, ended, _tasks: tasks }
    }

    async fn tcp(&self) -> TcpStream {
        TcpStream::connect((&*self.target.host, self.target.port)).await.unwrap()
    }

    /// What the only connection has ended with.
    async fn end(&self) -> Result<(), String> {
        let ended = async {
            loop {
                if let Some(end) = self.ended.lock().unwrap().pop() {
                    return end;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, ended).await.expect("the connection ends")
    }
}

/// Events with these bodies, the first with headers of its own.
fn sample() -> Batch {
    let mut batch = Batch::new();
    batch.push([("a", "1")].into_iter().collect::<Headers>(), "hello");
    batch.push(Headers::new(), "x");
    batch
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Cuts bytes into frames.
fn cut(bytes: &[u8]) -> Vec<(i32, Bytes)> {
    let mut reader = FrameReader::new(MAX_FRAME_BYTES, Budget::new(1 << 30));
    reader.feed(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = reader.advance().unwrap() {
        frames.push((frame.serial, frame.payload));
    }
    assert!(!reader.is_within_frame());
    frames
}
