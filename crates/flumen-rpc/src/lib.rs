//! Flume's Avro and Thrift protocols: codecs, servers and clients.

pub mod net;
pub mod thrift;
