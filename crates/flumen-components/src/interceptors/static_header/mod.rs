//! The `static` interceptor (a word that Rust keeps for itself): sets a header to the same value on every event.

mod config;
#[cfg(test)]
mod tests;

pub use config::StaticConfig;

use super::set_on_all::set_on_all;
use flumen_core::{
    event::{Batch, Text},
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, Facts, InterceptorType},
};

/// See the module.
#[derive(Debug)]
pub struct StaticInterceptor {
    key: Text,
    value: Text,
    preserve_existing: bool,
}

impl InterceptorType for StaticInterceptor {
    const NAMES: &'static [&'static str] = &[
        "static",
        "org.apache.flume.interceptor.StaticInterceptor$Builder",
        "org.apache.flume.interceptor.StaticInterceptor",
    ];
    const SUMMARY: &'static str = "Sets a header to the same value on every event.";
    type Config = StaticConfig;

    fn build(config: Self::Config, _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self {
            key: Text::kept(&config.key),
            value: Text::kept(&config.value),
            preserve_existing: config.preserve_existing,
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts { sets_timestamp: config.key == "timestamp", ..Facts::default() }
    }
}

impl Interceptor for StaticInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        set_on_all(batch, &self.key, &self.value, self.preserve_existing);
        Ok(())
    }
}
