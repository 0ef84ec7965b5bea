//! The filter `env`: environment variables.

use super::{Filter, FilterContext};
use flumen_core::{
    config::{Configuration, Problem, Settings},
    registry::{EntryInfo, Environment},
};
use std::sync::Arc;

/// Fills placeholders from environment variables.
#[derive(Debug, Configuration)]
pub(super) struct EnvConfig {}

/// The filter.
#[derive(Debug)]
pub(super) struct EnvFilter {
    environment: Arc<Environment>,
}

pub(super) fn info() -> EntryInfo {
    super::info::<EnvConfig>(
        &["env", "org.apache.flume.configfilter.EnvironmentVariableConfigFilter"],
        "Fills placeholders from environment variables.",
        std::any::type_name::<EnvFilter>(),
    )
}

pub(super) fn read(settings: &Settings, context: &FilterContext) -> (Option<Filter>, Vec<Problem>) {
    let (config, problems) = super::config_of::<EnvConfig>(settings);
    (config.map(|_| Filter::Env(EnvFilter { environment: context.environment.clone() })), problems)
}

impl EnvFilter {
    pub(super) fn value(&self, key: &str) -> Result<String, String> {
        let value = self.environment.variables.get(key).cloned();
        value.ok_or_else(|| format!("the environment variable `{key}` is not set"))
    }
}
