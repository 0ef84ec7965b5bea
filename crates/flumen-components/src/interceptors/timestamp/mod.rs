//! Sets a header to the present time in milliseconds since 1970. All events of a batch get the same one.

mod config;
#[cfg(test)]
mod tests;

pub use config::TimestampConfig;

use super::set_on_all::set_on_all;
use flumen_core::{
    event::{Batch, Text},
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, Facts, InterceptorType},
    world::WallClock,
};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct TimestampInterceptor {
    header: Text,
    preserve_existing: bool,
    clock: Arc<dyn WallClock>,
}

impl InterceptorType for TimestampInterceptor {
    const NAMES: &'static [&'static str] = &[
        "timestamp",
        "org.apache.flume.interceptor.TimestampInterceptor$Builder",
        "org.apache.flume.interceptor.TimestampInterceptor",
    ];
    const SUMMARY: &'static str = "Sets a header to the present time in milliseconds since 1970.";
    type Config = TimestampConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self {
            header: Text::kept(&config.header_name),
            preserve_existing: config.preserve_existing,
            clock: context.clock.clone(),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts { sets_timestamp: config.header_name == "timestamp", ..Facts::default() }
    }
}

impl Interceptor for TimestampInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        let now = Text::from(self.clock.now_ms().to_string());
        set_on_all(batch, &self.header, &now, self.preserve_existing);
        Ok(())
    }
}
