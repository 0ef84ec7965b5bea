//! The settings of the HTTP sink.

use super::rules::StatusPattern;
use flumen_core::config::{Configuration, Millis, Secret, Url};
use std::collections::BTreeMap;

/// What stands below the sink.
#[derive(Debug, Configuration)]
pub struct HttpSinkConfig {
    /// URL that each event is posted to: `http` or `https`.
    pub endpoint: Url,
    /// How long to wait for a connection, TLS included.
    #[property(default = "5000", min = "1")]
    pub connect_timeout: Millis,
    /// How long to wait for an answer, from the first byte sent to the last one read.
    #[property(default = "5000", min = "1")]
    pub request_timeout: Millis,
    /// The header `Content-Type` of requests.
    #[property(default = "text/plain")]
    pub content_type_header: String,
    /// The header `Accept` of requests.
    #[property(default = "text/plain")]
    pub accept_header: String,
    /// Whether to pause after a status for which `backoff.` has no rule.
    #[property(default = "true")]
    pub default_backoff: bool,
    /// Whether the event stays in the channel, to be sent again, after a status for which `rollback.` has no rule. It is true
    /// for 200 as well: without `rollback.200 = false` (or `2XX`) the first event is sent for ever.
    #[property(default = "true")]
    pub default_rollback: bool,
    /// Whether an event counts as `EventStatusSuccessCount` after a status for which `incrementMetrics.` has no rule.
    #[property(default = "false")]
    pub default_increment_metrics: bool,
    /// Whether to pause, by status (`503`) or by hundred (`5XX`). The single status wins.
    #[property(prefix = "backoff.")]
    pub backoff: BTreeMap<StatusPattern, bool>,
    /// Whether the event stays in the channel, by status or by hundred. Without it the event is gone, whatever the status.
    #[property(prefix = "rollback.")]
    pub rollback: BTreeMap<StatusPattern, bool>,
    /// Whether an event counts as `EventStatusSuccessCount`, by status or by hundred.
    #[property(prefix = "incrementMetrics.")]
    pub increment_metrics: BTreeMap<StatusPattern, bool>,
    /// For `https`: trust store file with the certificates to trust. Unset: `-Djavax.net.ssl.trustStore`, then
    /// `FLUME_SSL_TRUSTSTORE_PATH`, then what the operating system trusts.
    pub truststore: Option<String>,
    /// Password of the trust store; without one it is read unchecked. Unset: `-Djavax.net.ssl.trustStorePassword`, then
    /// `FLUME_SSL_TRUSTSTORE_PASSWORD`.
    #[property(key = "truststore-password")]
    pub truststore_password: Option<Secret>,
    /// Type of the trust store: JKS, JCEKS, PKCS12 or PEM. Unset: `-Djavax.net.ssl.trustStoreType`, then
    /// `FLUME_SSL_TRUSTSTORE_TYPE`, then JKS, which opens PKCS12 files too.
    #[property(key = "truststore-type")]
    pub truststore_type: Option<String>,
    /// For `https`: key store file with a key and certificate of the sink's own, for a server that asks for one.
    pub keystore: Option<String>,
    /// Password of that file and of its keys.
    #[property(key = "keystore-password")]
    pub keystore_password: Option<Secret>,
    /// Type of that file: JKS, JCEKS, PKCS12 or PEM.
    #[property(key = "keystore-type")]
    pub keystore_type: Option<String>,
}
