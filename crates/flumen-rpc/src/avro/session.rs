//! The server's side of a connection, without the connection: calls in, answers out.

use super::{
    MAX_KNOWN_CLIENTS, events, frame,
    handshake::{HandshakeRequest, HandshakeResponse, Match},
    protocol::{HASH, Method, Shape, Status},
    wire::{Reader, WireError, put_bytes},
};
use bytes::Bytes;
use flumen_core::event::Batch;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The protocols of clients that a server has seen, by their hashes. One for all connections of a server.
pub struct KnownClients(Mutex<HashMap<[u8; 16], Arc<Shape>>>);

impl Default for KnownClients {
    fn default() -> Self {
        Self(Mutex::new(HashMap::from([(HASH, Arc::new(Shape::own()))])))
    }
}

impl KnownClients {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn find(&self, hash: &[u8; 16]) -> Option<Arc<Shape>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    fn add(&self, hash: [u8; 16], shape: Arc<Shape>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN_CLIENTS {
            // Who is forgotten sends the text again.
            known.retain(|hash, _| *hash == HASH);
        }
        // Nobody may change what our own hash means.
        known.entry(hash).or_insert(shape);
    }
}

impl fmt::Debug for KnownClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownClients").finish_non_exhaustive()
    }
}

/// One connection of a server.
#[derive(Debug)]
pub struct Session {
    known: Arc<KnownClients>,
    /// The client's protocol, once the handshake is done.
    client: Option<Arc<Shape>>,
    keeps_order: bool,
}

/// What a message of the client asks for.
#[derive(Debug)]
pub enum Asked {
    /// To store this, and then to answer.
    Store {
        /// One event, or a list.
        method: Method,
        /// The events: rows over the message.
        batch: Batch,
        /// The beginning of the answer.
        answer: Answer,
    },
    /// Nothing: this is the answer to a ping, to a handshake that is not over, or to something that cannot be understood.
    Nothing {
        /// The whole answer.
        answer: Answer,
        /// What was wrong with the message, for the log.
        wrong: Option<String>,
    },
}

/// An answer in the making: it begins with the handshake's, where that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer(Vec<u8>);

impl Session {
    /// A connection that has just been made.
    pub fn new(known: Arc<KnownClients>) -> Self {
        Self { known, client: None, keeps_order: false }
    }

    /// Whether the client counts on it that nothing is stored behind a call that failed.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// Understands a message. It never fails: what is wrong is answered, as Java does.
    pub fn ask(&mut self, payload: &Bytes) -> Asked {
        let mut reader = Reader::new(payload);
        let mut answer = Answer(Vec::new());
        let client = match &self.client {
            Some(client) => client.clone(),
            None => match self.handshake(&mut reader, &mut answer) {
                Ok(Some(client)) => self.client.insert(client).clone(),
                Ok(None) => return Asked::Nothing { answer, wrong: None },
                Err(wrong) => {
                    // There is no handshake response in front of this one.
                    let answer =
                        Answer(Vec::new()).error(&format!("org.apache.avro.AvroRuntimeException: {wrong}"));
                    return Asked::Nothing { answer, wrong: Some(format!("bad handshake: {wrong}")) };
                }
            },
        };
        match call(payload, &mut reader, &client) {
            Ok(Some((method, batch))) => Asked::Store { method, batch, answer },
            Ok(None) => Asked::Nothing { answer, wrong: None },
            Err(wrong) => Asked::Nothing { answer: answer.error(&wrong), wrong: Some(wrong) },
        }
    }

    /// `None`: the client must send its text first.
    fn handshake(
        &mut self,
        reader: &mut Reader<'_>,
        answer: &mut Answer,
    ) -> Result<Option<Arc<Shape>>, String> {
        let request = HandshakeRequest::read(reader).map_err(|error| error.to_string())?;
        let mut client = self.known.find(&request.client_hash);
        if client.is_none()
            && let Some(text) = &request.client_protocol
        {
            let shape = Arc::new(Shape::read(text)?);
            self.known.add(request.client_hash, shape.clone());
            client = Some(shape);
        }
        let response = HandshakeResponse::to(&request, client.is_some());
        self.keeps_order = request.keeps_order && response.matched != Match::None;
        response.put(&mut answer.0);
        Ok(client)
    }
}

/// `None`: a ping. The error is the text of the answer.
fn call(payload: &Bytes, reader: &mut Reader<'_>, client: &Shape) -> Result<Option<(Method, Batch)>, String> {
    let broken = |error: WireError| format!("org.apache.avro.AvroRuntimeException: {error}");
    reader.map(|_, _| ()).map_err(broken)?;
    let name = reader.bytes().map_err(broken)?;
    if name.is_empty() {
        return Ok(None);
    }
    let message = client.find(&String::from_utf8_lossy(name))?;
    let batch = events::read(payload, reader.position(), message, client).map_err(broken)?;
    Ok(Some((message.method, batch)))
}

impl Answer {
    /// The answer with a status.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        let status = match status {
            Status::Ok => 0,
            Status::Failed => 2,
            Status::Unknown => 4,
        };
        // No metadata, no error.
        self.0.extend_from_slice(&[0, 0, status]);
        self
    }

    /// The answer with an error, in words.
    #[must_use]
    pub fn error(mut self, text: &str) -> Self {
        // No metadata, an error, the first of its union: a string.
        self.0.extend_from_slice(&[0, 1, 0]);
        put_bytes(&mut self.0, text.as_bytes());
        self
    }

    /// Appends it as a frame.
    pub fn put(&self, serial: i32, out: &mut Vec<u8>) {
        frame::put(serial, &self.0, out);
    }
}
