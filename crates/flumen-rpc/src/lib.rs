//! Flume's Avro and Thrift protocols: codecs, servers and clients.

pub mod avro;
pub mod client;
mod error;
pub mod net;
pub mod thrift;

pub use error::{RpcError, Why};
