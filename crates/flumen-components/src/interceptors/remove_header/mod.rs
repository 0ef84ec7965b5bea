//! Removes headers by name, from a list, or by pattern.
//!
//! A header on whose name the pattern needs too many steps stays.

mod config;
#[cfg(test)]
mod tests;

pub use config::RemoveHeaderConfig;

use super::gave_up::GaveUp;
use crate::shared::regex::JavaRegex;
use flumen_core::{
    event::Batch,
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, InterceptorType},
};

/// See the module.
#[derive(Debug)]
pub struct RemoveHeaderInterceptor {
    names: Vec<String>,
    matching: Option<JavaRegex>,
    gave_up: GaveUp,
}

impl InterceptorType for RemoveHeaderInterceptor {
    const NAMES: &'static [&'static str] = &[
        "remove_header",
        "org.apache.flume.interceptor.RemoveHeaderInterceptor$Builder",
        "org.apache.flume.interceptor.RemoveHeaderInterceptor",
    ];
    const SUMMARY: &'static str = "Removes headers by name, from a list, or by pattern.";
    type Config = RemoveHeaderConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        let mut names = Vec::from_iter(config.with_name);
        if let Some(list) = &config.from_list {
            let mut parts = Vec::new();
            config
                .from_list_separator
                .split(list.as_bytes(), 0, &mut parts)
                .map_err(|error| BuildError::with("fromListSeparator", error))?;
            names.extend(parts.iter().filter_map(|(start, end)| list.get(*start..*end).map(str::to_owned)));
        }
        Ok(Self { names, matching: config.matching, gave_up: GaveUp::new(context) })
    }
}

impl Interceptor for RemoveHeaderInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.edit_headers(|headers| {
            for name in &self.names {
                headers.remove(name);
            }
            if let Some(pattern) = &self.matching {
                headers.retain(|name, _| !self.matches(pattern, name));
            }
        });
        Ok(())
    }
}

impl RemoveHeaderInterceptor {
    fn matches(&self, pattern: &JavaRegex, name: &str) -> bool {
        pattern.matches(name.as_bytes(), None).unwrap_or_else(|error| {
            self.gave_up.note(&error);
            false
        })
    }
}
