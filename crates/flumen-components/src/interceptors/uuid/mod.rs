//! Gives each event a random UUID in a header.

mod config;
#[cfg(test)]
mod tests;

pub use config::UuidConfig;

use flumen_core::{
    event::{Batch, Text},
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, InterceptorType},
};
use flumen_java::text::Uuid;
use std::sync::Arc;

/// Random bytes of one UUID.
const UUID_BYTES: usize = 16;

/// See the module.
#[derive(Debug)]
pub struct UuidInterceptor {
    name: Arc<str>,
    header: Text,
    preserve_existing: bool,
    prefix: String,
}

impl InterceptorType for UuidInterceptor {
    const NAMES: &'static [&'static str] = &[
        "uuid",
        "org.apache.flume.sink.solr.morphline.UUIDInterceptor$Builder",
        "org.apache.flume.sink.solr.morphline.UUIDInterceptor",
    ];
    const SUMMARY: &'static str = "Sets a header to a random UUID, another one for each event.";
    type Config = UuidConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self {
            name: context.name.clone(),
            header: Text::kept(&config.header_name),
            preserve_existing: config.preserve_existing,
            prefix: config.prefix,
        })
    }
}

impl Interceptor for UuidInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        // From the system, for the whole batch at once: a seed of 64 bits would repeat itself within a fleet of agents.
        let mut random = vec![0; batch.len() * UUID_BYTES];
        getrandom::fill(&mut random).map_err(|error| InterceptError {
            interceptor: self.name.to_string(),
            reason: format!("the system gives no random bytes: {error}"),
        })?;
        let (uuids, _) = random.as_chunks::<UUID_BYTES>();
        let mut uuids = uuids.iter();
        batch.edit_each(|event, own| {
            let Some(bytes) = uuids.next() else { return };
            if self.preserve_existing && event.headers.get(&self.header).is_some() {
                return;
            }
            own.set_fmt(
                self.header.clone(),
                format_args!("{}{}", self.prefix, Uuid::from_random_bytes(*bytes)),
            );
        });
        Ok(())
    }
}
