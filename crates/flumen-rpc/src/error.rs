//! What can go wrong with a peer, in words for whoever runs the agent.

use crate::{avro::Status, net::ConnectError};
use std::{fmt, io, time::Duration};

/// A call, or the connection for it, has failed. Whether the peer has stored the events is not known, unless it said so.
#[derive(Debug, thiserror::Error)]
#[error("{peer} {why}")]
pub struct RpcError {
    /// The peer's `host:port`.
    pub peer: String,
    /// What happened.
    #[source]
    pub why: Why,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// There is no connection.
    #[error("is not connected: {0}")]
    Connect(#[from] ConnectError),
    /// Something took too long.
    #[error("{0} within {1:?}")]
    Late(&'static str, Duration),
    /// The connection broke.
    #[error("broke the connection: {0}")]
    Broken(io::Error),
    /// The peer ended the connection.
    #[error("has closed the connection")]
    Closed,
    /// The peer has not stored the events.
    #[error("answered {0}")]
    Status(Status),
    /// The peer answered with an error; its words.
    #[error("answered with an error: {0}")]
    Remote(String),
    /// What the peer sends is not the protocol.
    #[error("does not speak the protocol: {0}")]
    Protocol(String),
    /// The settings do not fit together.
    #[error("has bad settings: {0}")]
    Settings(String),
}

impl RpcError {
    /// An error of this peer.
    pub fn new(peer: impl fmt::Display, why: Why) -> Self {
        Self { peer: peer.to_string(), why }
    }

    /// Whether the peer did answer, and the events are not stored: the connection itself is sound.
    pub fn is_answer(&self) -> bool {
        matches!(self.why, Why::Status(_) | Why::Remote(_))
    }
}
