//! What the three syslog sources have in common, in the order of the data path: frames of a stream, messages in them, the
//! rows of a batch, and the way into the channels.

mod connection;
mod custom;
mod fields;
mod frames;
pub mod hostile;
mod keep;
mod message;
mod peer;
#[cfg(test)]
pub(crate) mod recorded;
mod rows;
mod stamp;

pub(crate) use super::puts::Puts;
pub(crate) use connection::Connection;
pub(crate) use custom::{CustomFormat, FormatConfig};
pub(crate) use fields::{Body, Fields, Status};
pub(crate) use frames::{Frames, Framing};
pub(crate) use keep::Keep;
pub(crate) use message::Rules;
pub(crate) use peer::{PeerHeaders, PeerNames};
pub(crate) use rows::{Names, Rows};
pub(crate) use stamp::{Stamps, rfc3164, rfc5424};
