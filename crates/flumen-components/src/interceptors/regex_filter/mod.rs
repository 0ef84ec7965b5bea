//! Keeps or drops the events in whose bodies a pattern is found.
//!
//! An event on which the pattern needs too many steps is kept: nobody knows whether it should be dropped.

mod config;
#[cfg(test)]
mod tests;

pub use config::RegexFilterConfig;

use super::gave_up::GaveUp;
use crate::shared::{
    jvm,
    regex::{JavaRegex, body_text},
};
use flumen_core::{
    event::Batch,
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, InterceptorType},
};
use flumen_java::charset::Charset;

/// See the module.
#[derive(Debug)]
pub struct RegexFilterInterceptor {
    regex: JavaRegex,
    exclude: bool,
    charset: Charset,
    gave_up: GaveUp,
}

impl InterceptorType for RegexFilterInterceptor {
    const NAMES: &'static [&'static str] = &[
        "regex_filter",
        "org.apache.flume.interceptor.RegexFilteringInterceptor$Builder",
        "org.apache.flume.interceptor.RegexFilteringInterceptor",
    ];
    const SUMMARY: &'static str = "Keeps or drops the events in whose bodies a pattern is found.";
    type Config = RegexFilterConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self {
            regex: config.regex,
            exclude: config.exclude_events,
            charset: jvm::charset(&context.environment),
            gave_up: GaveUp::new(context),
        })
    }
}

impl Interceptor for RegexFilterInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.retain(|event| match self.regex.is_found(&body_text(self.charset, event.body)) {
            Ok(found) => found != self.exclude,
            Err(error) => {
                self.gave_up.note(&error);
                true
            }
        });
        Ok(())
    }
}
