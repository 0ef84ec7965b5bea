//! Java Flume's agents, clients and appender with our agents, sources, sinks and clients.

mod agents;
mod appender;
mod chain;
mod clients;
mod collector;
mod events;
mod kills;
mod library;
mod mix;
mod numbers;
mod spooldir;
mod taildir;
mod tool;
mod wait;
mod ways;
