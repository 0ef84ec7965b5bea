//! Drives the real program, as an operator would: files, flags, signals, sockets. `cargo test -p end_to_end` runs all of it.

#![cfg(test)]

mod agent;
mod wait;

mod bad_input;
mod bad_peers;
mod channel_tools;
mod check;
mod command_line;
mod commands;
mod disk;
mod embedding;
mod ends;
mod every_option;
mod examples;
mod file_channel;
mod filters;
mod flow;
mod kills;
mod large;
mod logging;
mod mistakes;
mod monitoring;
mod reload;
mod signals;
mod spooling;
mod tailing;
