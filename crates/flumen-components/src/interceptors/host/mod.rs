//! Sets a header to the name or address of this machine, which is asked for once.
//!
//! Where the machine's name cannot be resolved, events pass without the header, and a warning says so.

mod config;
#[cfg(test)]
mod tests;

pub use config::HostConfig;

use super::set_on_all::set_on_all;
use crate::shared::local_host;
use flumen_core::{
    event::{Batch, Text},
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, InterceptorType},
};
use std::io;

/// See the module.
#[derive(Debug)]
pub struct HostInterceptor {
    header: Text,
    preserve_existing: bool,
    /// Nothing, where it could not be found.
    host: Option<Text>,
}

impl HostInterceptor {
    fn new(config: HostConfig, host: io::Result<String>, name: &str) -> Self {
        let host = host.map(Text::from).inspect_err(|error| {
            tracing::warn!(
                interceptor = name,
                %error,
                "events pass without the header {}: enter this machine's name in /etc/hosts or the name server",
                config.host_header
            );
        });
        Self {
            header: Text::kept(&config.host_header),
            preserve_existing: config.preserve_existing,
            host: host.ok(),
        }
    }
}

impl InterceptorType for HostInterceptor {
    const NAMES: &'static [&'static str] = &[
        "host",
        "org.apache.flume.interceptor.HostInterceptor$Builder",
        "org.apache.flume.interceptor.HostInterceptor",
    ];
    const SUMMARY: &'static str = "Sets a header to the address or name of this machine.";
    type Config = HostConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        let host = match config.use_ip {
            true => local_host::address().map(local_host::shown),
            false => local_host::canonical_name(),
        };
        Ok(Self::new(config, host, &context.name))
    }
}

impl Interceptor for HostInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        if let Some(host) = &self.host {
            set_on_all(batch, &self.header, host, self.preserve_existing);
        }
        Ok(())
    }
}
