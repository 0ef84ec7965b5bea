//! The settings of the HTTP source.

use super::{
    handler::{HandlerConfig, HandlerType},
    jetty::{HttpConfiguration, QueuedThreadPool, ServerConnector, SslContextFactory},
};
use flumen_core::config::{AnyPort, Bytes, Configuration, Millis, Secret, Words};

/// Takes events by HTTP requests.
#[derive(Debug, Configuration)]
pub struct HttpConfig {
    /// Address to listen on.
    #[property(default = "0.0.0.0")]
    pub bind: String,
    /// Port to listen on; 0 lets the system choose one, which the log tells.
    pub port: AnyPort,
    /// What makes events of a request, by its Java class name: `org.apache.flume.source.http.JSONHandler` (a JSON
    /// array of objects with `headers` and `body`), `org.apache.flume.source.http.BLOBHandler` or
    /// `org.apache.flume.sink.solr.morphline.BlobHandler` (the body as one event, the parameters of the URL as
    /// headers).
    #[property(default = "org.apache.flume.source.http.JSONHandler")]
    pub handler: HandlerType,
    /// Settings of the handler.
    #[property(nested = "handler.")]
    pub handler_settings: HandlerConfig,
    /// The longest body of a request in bytes, after decompression; a longer one is answered with 413.
    #[property(default = "100000000", min = "1", max = "1073741824")]
    pub max_request_bytes: Bytes,
    /// Bytes of bodies that all requests at work may hold together; a request for which there is no room is answered
    /// with 503. At least `maxRequestBytes`.
    #[property(default = "268435456", min = "1", max = "1099511627776")]
    pub max_buffered_bytes: Bytes,
    /// Connections that may be open together; further ones wait until one ends.
    #[property(default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
    /// How long the head of a request may take to arrive, and then its body; a slower one is answered with 408.
    #[property(default = "300000", min = "1")]
    pub request_timeout: Millis,
    /// Whether clients must use TLS (HTTPS). It needs `keystore` and `keystore-password`, or the process-wide ones.
    #[property(default = "false", deprecated = "enableSSL")]
    pub ssl: bool,
    /// Key store file with the server's key and certificate. Unset: `-Djavax.net.ssl.keyStore`, then
    /// `FLUME_SSL_KEYSTORE_PATH`.
    pub keystore: Option<String>,
    /// Password of the key store and of its keys. Unset: `-Djavax.net.ssl.keyStorePassword`, then
    /// `FLUME_SSL_KEYSTORE_PASSWORD`.
    #[property(key = "keystore-password", deprecated = "keystorePassword")]
    pub keystore_password: Option<Secret>,
    /// Type of the key store: JKS, JCEKS, PKCS12 or PEM. Unset: `-Djavax.net.ssl.keyStoreType`, then
    /// `FLUME_SSL_KEYSTORE_TYPE`, then JKS, which opens PKCS12 files too.
    #[property(key = "keystore-type")]
    pub keystore_type: Option<String>,
    /// TLS protocols to forbid, by Java's names. SSLv3 always is.
    #[property(key = "exclude-protocols", deprecated = "excludeProtocols")]
    pub exclude_protocols: Option<Words>,
    /// TLS protocols to allow; empty allows all. Exclusion wins.
    #[property(key = "include-protocols")]
    pub include_protocols: Option<Words>,
    /// Cipher suites to forbid, by Java's names.
    #[property(key = "exclude-cipher-suites")]
    pub exclude_cipher_suites: Option<Words>,
    /// Cipher suites to allow; empty allows all. Exclusion wins.
    #[property(key = "include-cipher-suites")]
    pub include_cipher_suites: Option<Words>,
    /// What Java's web server calls its HTTP configuration.
    #[property(nested = "HttpConfiguration.")]
    pub http: HttpConfiguration,
    /// What Java's web server calls its connector.
    #[property(nested = "ServerConnector.")]
    pub connector: ServerConnector,
    /// What Java's web server calls its thread pool.
    #[property(nested = "QueuedThreadPool.")]
    pub thread_pool: QueuedThreadPool,
    /// What Java's web server calls its TLS settings; they win over those above.
    #[property(nested = "SslContextFactory.")]
    pub ssl_context: SslContextFactory,
}
