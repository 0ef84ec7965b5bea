//! The agent behind the `flumen` program, as a library: a program with types of its own adds them to the registry.

mod absent;
pub mod agent;
mod cli;
pub mod commands;
pub mod conf;
pub mod embedded;
pub mod hostile;
mod logging;
pub mod monitor;
pub mod plan;
mod startup;

pub use cli::main;

use flumen_core::registry::Registry;

/// Every type that comes with Flumen.
pub fn registry() -> Registry {
    let registry = conf::filters::register(flumen_channels::register(Registry::new()));
    #[cfg(feature = "kafka")]
    let registry = flumen_kafka::register(registry);
    flumen_components::register(registry).absent(absent::TYPES)
}
