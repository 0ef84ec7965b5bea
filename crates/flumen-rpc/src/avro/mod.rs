//! Flume's Avro protocol: frames, handshake, calls; a client, and the server's side of a connection.
//!
//! The sources of the format are the Avro specification ("Protocol Wire Format") for messages, and, for what lies around them, the
//! bytes that Java Flume 1.11 sends and takes: a frame is a serial number, a number of buffers, and for each buffer its length
//! and its bytes, all numbers 32 bits, most significant byte first.

mod client;
mod events;
mod frame;
mod handshake;
mod protocol;
mod schema;
mod server;
mod session;
mod wire;

pub use client::{Client, Options, Receiver, Reply, Sender};
pub use frame::{Budget, Frame, FrameError, FrameReader, Room};
pub use handshake::{HandshakeRequest, HandshakeResponse, Match};
pub use protocol::{HASH, Method, Status, TEXT};
pub use server::{Begun, Call, Outcome, Service, Shared, serve};
pub use session::{Answer, Asked, KnownClients, Session};
pub use wire::{Reader, WireError};

/// Events, or headers, or other values of one call.
pub const MAX_ITEMS: u64 = 1_000_000;
/// The longest frame that is read where nothing else is set. Java has no limit.
pub const MAX_FRAME_BYTES: usize = 128 << 20;
/// Protocols of clients that a server remembers.
const MAX_KNOWN_CLIENTS: usize = 1_000;

#[cfg(test)]
mod tests;
