//! Posts the body of each event to a URL; settings say what each status means.
//!
//! Delivery: at least once, as far as the settings keep an event until its status is good (`rollback.`): one whose status has
//! no rollback is gone. Events go one after the other, in order, over a connection that is kept.
//! Transient failure (no connection, no answer in time, a status with rollback): the event and those behind it stay in the
//! channel and are tried again after a pause.
//! Permanent failure: whatever the settings say is one (a status without rollback that is no success): counted and dropped.
//! Duplicates: an event whose answer did not arrive, and one whose server closed a kept connection while it was sent.

mod client;
mod config;
mod rules;
#[cfg(test)]
mod tests;

pub use config::HttpSinkConfig;
pub use rules::StatusPattern;

use client::{Client, Settings};
use flumen_core::{
    event::Batch,
    metrics::Counter,
    registry::{BuildError, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use flumen_rpc::net::ClientTlsConfig;
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use hyper::header::HeaderValue;
use rules::Rules;
use std::sync::Arc;

flumen_core::metrics! {
    /// What the HTTP sink counts beside what every sink does.
    pub struct HttpSinkMetrics {
        /// Events whose status `incrementMetrics` counts, each time that they were sent.
        successes: Counter = "EventStatusSuccessCount",
    }
}

/// See the module.
#[derive(Debug)]
pub struct HttpSink {
    /// The endpoint without password, for messages.
    endpoint: String,
    client: Client,
    rules: Rules,
    metrics: Arc<HttpSinkMetrics>,
}

impl SinkType for HttpSink {
    const NAMES: &'static [&'static str] = &["http", "org.apache.flume.sink.http.HttpSink"];
    const SUMMARY: &'static str = "Posts the body of each event to a URL.";
    type Config = HttpSinkConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sinks.{}.{key}", common.agent, common.name);
        let scheme = config.endpoint.scheme();
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            let what =
                format!("{}: events are posted to http and https alone, not {scheme}", key("endpoint"));
            return Err(BuildError::new(what));
        }
        let header = |name: &str, value: &str| {
            let what = || format!("{} is no value of a header", key(name));
            HeaderValue::from_str(value.trim()).map_err(|error| BuildError::with(what(), error))
        };
        let settings = Settings {
            content_type: header("contentTypeHeader", &config.content_type_header)?,
            accept: header("acceptHeader", &config.accept_header)?,
            connect_timeout: config.connect_timeout.duration(),
            request_timeout: config.request_timeout.duration(),
            tls: is_https.then(|| tls(&config, context)),
            metrics: context.metrics.clone(),
        };
        let client = Client::new(&config.endpoint, settings)
            .map_err(|error| BuildError::new(format!("{}: {error}", key("endpoint"))))?;
        let metrics = Arc::new(HttpSinkMetrics::default());
        common.extra.add(metrics.clone());
        Ok(Self { endpoint: config.endpoint.to_string(), client, rules: Rules::new(&config), metrics })
    }

    fn facts(config: &Self::Config) -> Facts {
        let mut facts = Facts::default();
        let rule = Rules::new(config).of(200);
        if rule.rollback {
            let what = "an event that is answered with 200 stays in the channel and is sent again, for ever: set \
                        rollback.2XX = false";
            facts.advice.push(("defaultRollback".to_owned(), what.to_owned()));
        } else if rule.backoff {
            let what = "there is a pause after each event that is answered with 200: set backoff.2XX = false";
            facts.advice.push(("defaultBackoff".to_owned(), what.to_owned()));
        }
        if config.endpoint.user_info().is_some() {
            let what = "user and password in the URL are not sent, as by Java Flume";
            facts.advice.push(("endpoint".to_owned(), what.to_owned()));
        }
        facts
    }
}

/// Java's settings for the process, and the sink's own.
fn tls(config: &HttpSinkConfig, context: &SinkContext) -> TlsSettings {
    let client = ClientTlsConfig {
        ssl: true,
        truststore: config.truststore.clone(),
        truststore_password: config.truststore_password.clone(),
        truststore_type: config.truststore_type.clone(),
        exclude_protocols: None,
        include_protocols: None,
        exclude_cipher_suites: None,
        include_cipher_suites: None,
    };
    let key_store = config.keystore.as_ref().map(|path| StoreFile {
        path: path.into(),
        password: config.keystore_password.as_ref().map(|secret| Password::new(secret.reveal())),
        type_name: config.keystore_type.clone(),
    });
    let settings = client.settings(&context.common.environment, false).unwrap_or_default();
    TlsSettings { key_store, verify_host: true, ..settings }
}

impl Sink for HttpSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let mut delivery = Delivery::default();
        for (position, event) in (0..).zip(batch.iter()) {
            if event.body.is_empty() {
                delivery.discarded.push((position, "there is no body to post"));
                delivery.done = position + 1;
                delivery.pause = true;
                break;
            }
            let failed = match self.client.post(batch.body_bytes(position as usize)).await {
                Ok(status) => {
                    let rule = self.rules.of(status);
                    self.metrics.successes.add(u64::from(rule.counts));
                    delivery.pause = rule.backoff;
                    if rule.rollback {
                        format!("{} has answered with status {status}", self.endpoint)
                    } else {
                        if !(200..300).contains(&status) {
                            delivery
                                .discarded
                                .push((position, "its status is no success and has no rollback"));
                        }
                        delivery.done = position + 1;
                        if rule.backoff {
                            break;
                        }
                        continue;
                    }
                }
                Err(why) => format!("{}: {why}", self.endpoint),
            };
            // What has arrived before it leaves the channel first; then it fails again, if it does.
            if delivery.done == 0 {
                return Err(DeliverError::backoff(failed));
            }
            tracing::warn!(why = failed, "an event was not taken, and is sent again");
            break;
        }
        Ok(delivery)
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        self.client.close();
        Ok(())
    }
}
