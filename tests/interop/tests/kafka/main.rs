//! Source, sink and channel for Kafka against a real broker, as whole agents.

mod agent;
mod broker;
mod channel;
mod java;
mod parts;
mod sink;
mod source;
mod wait;
