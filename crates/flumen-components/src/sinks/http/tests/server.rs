//! A server that answers as it is told.

use super::*;
use flumen_rpc::net::BoxIo;
use std::{
    collections::VecDeque,
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What the server does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// Answers with this status, without a body.
    Status(u16),
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Sends these bytes one at a time, with a pause after each.
    Slowly(Vec<u8>, Duration),
    /// Says nothing.
    Silence,
    /// Closes the connection.
    Close,
    /// Answers with 200 and closes it.
    OkAndClose,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// The first line and the headers, in small letters.
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Script {
    /// What comes next; then `Status(200)`.
    pub(super) replies: Mutex<VecDeque<Reply>>,
    pub(super) requests: Mutex<Vec<Request>>,
    pub(super) connections: AtomicUsize,
    /// Answers everything with 503.
    pub(super) failing: AtomicBool,
}

impl Script {
    pub(super) fn bodies(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect()
    }

    pub(super) fn then(&self, replies: &[Reply]) {
        self.replies.lock().unwrap().extend(replies.iter().cloned());
    }
}

pub(super) struct Server {
    pub(super) script: Arc<Script>,
    pub(super) address: SocketAddr,
    _running: JoinSet<()>,
}

impl Server {
    pub(super) async fn start() -> Self {
        Self::with_layers("127.0.0.1", |stream| async { Ok(Box::new(stream) as BoxIo) }).await
    }

    pub(super) async fn with_layers<F>(bind: &str, layers: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = io::Result<BoxIo>> + Send + 'static,
    {
        let listener = TcpListener::bind((bind, 0)).await.unwrap();
        let (address, script) = (listener.local_addr().unwrap(), Arc::new(Script::default()));
        let mut running = JoinSet::new();
        let shared = script.clone();
        running.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (layered, script) = (layers(stream), shared.clone());
                connections.spawn(async move {
                    if let Ok(stream) = layered.await {
                        // A sink that closes is no fault.
                        let _ = serve(stream, &script).await;
                    }
                });
            }
        });
        Self { script, address, _running: running }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/in?a=b#c", self.address)
    }
}

async fn serve(stream: BoxIo, script: &Script) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Ok(());
            }
        }
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        stream.read_exact(&mut body).await?;
        let failing = script.failing.load(Ordering::SeqCst);
        if !failing {
            script.requests.lock().unwrap().push(Request { head, body });
        }
        let reply = script.replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(200));
        match if failing { Reply::Status(503) } else { reply } {
            Reply::Status(status) => {
                let answer = format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).await?;
            }
            Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
            Reply::Slowly(bytes, pause) => {
                for byte in bytes {
                    stream.write_all(&[byte]).await?;
                    stream.flush().await?;
                    tokio::time::timeout(pause, std::future::pending::<()>()).await.unwrap_err();
                }
            }
            Reply::Silence => std::future::pending().await,
            Reply::Close => return Ok(()),
            Reply::OkAndClose => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
                stream.flush().await?;
                return Ok(());
            }
        }
        stream.flush().await?;
    }
}
