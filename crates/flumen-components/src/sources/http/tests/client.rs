//! A plain HTTP client that writes what it is told to.

use super::LIMIT;
use std::net::SocketAddr;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// A connection, in the open or within TLS.
pub(super) struct Client<S = TcpStream> {
    pub(super) stream: S,
    /// What has come and was not looked at.
    read: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, read: Vec::new() }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Sends a request with its length.
    pub(super) async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        self.write(&[head.as_bytes(), b"\r\n", body].concat()).await;
    }

    pub(super) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        self.send(method, path, headers, body).await;
        self.reply(method == "HEAD").await
    }

    /// The next answer; that to a HEAD has no body.
    pub(super) async fn reply(&mut self, of_head: bool) -> Reply {
        self.try_reply(of_head).await.expect("an answer")
    }

    /// The next answer, or `None` where the connection ends first.
    pub(super) async fn try_reply(&mut self, of_head: bool) -> Option<Reply> {
        timeout(LIMIT, self.read_reply(of_head)).await.expect("an answer or an end in time")
    }

    async fn read_reply(&mut self, of_head: bool) -> Option<Reply> {
        let head = loop {
            if let Some(end) = self.read.windows(4).position(|part| part == b"\r\n\r\n") {
                break self.read.drain(..end + 4).collect::<Vec<u8>>();
            }
            self.more().await?;
        };
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut reply = Reply { status, headers, body: Vec::new() };
        let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
        if !of_head {
            while self.read.len() < length {
                self.more().await?;
            }
            reply.body = self.read.drain(..length).collect();
        }
        Some(reply)
    }

    /// Reads on; `None` at the end of the connection.
    async fn more(&mut self) -> Option<()> {
        let mut chunk = [0; 4096];
        match self.stream.read(&mut chunk).await {
            Ok(0) | Err(_) => None,
            Ok(n) => {
                self.read.extend_from_slice(&chunk[..n]);
                Some(())
            }
        }
    }

    /// Whether the other side has ended the connection.
    pub(super) async fn is_ended(&mut self) -> bool {
        timeout(LIMIT, self.more()).await.expect("data or an end in time").is_none()
    }
}
