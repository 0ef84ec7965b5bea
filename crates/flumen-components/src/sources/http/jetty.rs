//! Settings that Java hands on to the parts of its web server (Jetty 9.4), as far as they mean something here.

use flumen_core::config::{Configuration, Millis, Secret, Words};

/// `HttpConfiguration.*`.
#[derive(Debug, Configuration)]
#[expect(clippy::duplicated_attributes, reason = "several keys mean nothing for one reason")]
#[configuration(
    ignored(key = "outputBufferSize", why = "answers are short"),
    ignored(key = "outputAggregationSize", why = "answers are short"),
    ignored(key = "responseHeaderSize", why = "answers are short"),
    ignored(key = "headerCacheSize", why = "headers are not cached"),
    ignored(key = "securePort", why = "nothing is redirected"),
    ignored(key = "secureScheme", why = "nothing is redirected"),
    ignored(key = "relativeRedirectAllowed", why = "nothing is redirected"),
    ignored(key = "delayDispatchUntilContent", why = "no thread waits for a request"),
    ignored(key = "blockingTimeout", why = "no thread waits for a request"),
    ignored(key = "maxErrorDispatches", why = "errors are answered directly"),
    ignored(key = "minResponseDataRate", why = "answers are short"),
    ignored(key = "requestCookieCompliance", why = "cookies are not read"),
    ignored(key = "responseCookieCompliance", why = "cookies are not sent"),
    ignored(key = "multiPartFormDataCompliance", why = "forms are not read"),
    ignored(key = "notifyRemoteAsyncErrors", why = "it is a matter of servlets"),
    ignored(key = "useDirectByteBuffers", why = "it is a matter of the JVM")
)]
pub struct HttpConfiguration {
    /// Whether answers have a `Server` header.
    #[property(default = "true")]
    pub send_server_version: bool,
    /// Whether answers have an `X-Powered-By` header.
    #[property(key = "sendXPoweredBy", default = "false")]
    pub send_x_powered_by: bool,
    /// Whether answers have a `Date` header.
    #[property(default = "true")]
    pub send_date_header: bool,
    /// The largest head of a request (first line and headers) in bytes; a larger one is answered with 431.
    #[property(default = "8192", min = "128", max = "1048576")]
    pub request_header_size: u32,
    /// Whether a connection may be used for several requests.
    #[property(default = "true")]
    pub persistent_connections_enabled: bool,
    /// How long nothing may come in the middle of a request, in milliseconds; -1 is `ServerConnector.idleTimeout`.
    #[property(default = "-1")]
    pub idle_timeout: i64,
    /// Bytes a second below which a body is too slow, and answered with 408; 0 is no limit.
    #[property(default = "0")]
    pub min_request_data_rate: u64,
}

/// `ServerConnector.*`.
#[derive(Debug, Configuration)]
#[expect(clippy::duplicated_attributes, reason = "several keys mean nothing for one reason")]
#[configuration(
    refused(key = "port", instead = "use `port`"),
    refused(key = "host", instead = "use `bind`"),
    refused(key = "inheritChannel", instead = "remove it: sockets are not inherited", unless = "false"),
    ignored(key = "name", why = "there is one connector"),
    ignored(key = "defaultProtocol", why = "there is one protocol"),
    ignored(key = "reuseAddress", why = "the address is always reused"),
    ignored(key = "reusePort", why = "there is one listener"),
    ignored(key = "soLingerTime", why = "connections are closed in order"),
    ignored(key = "acceptedSoLinger", why = "connections are closed in order"),
    ignored(key = "acceptedTcpNoDelay", why = "answers are never held back"),
    ignored(key = "acceptedReceiveBufferSize", why = "the system sizes its buffers"),
    ignored(key = "acceptedSendBufferSize", why = "the system sizes its buffers"),
    ignored(key = "acceptorPriorityDelta", why = "threads are shared by all components"),
    ignored(key = "selectorPriorityDelta", why = "threads are shared by all components")
)]
pub struct ServerConnector {
    /// How long a connection may be silent, in milliseconds: between requests, in the head of one, and while it
    /// takes an answer.
    #[property(default = "30000", min = "1")]
    pub idle_timeout: Millis,
    /// Connections that the system holds before they are accepted; 0 is 128.
    #[property(default = "0", max = "65535")]
    pub accept_queue_size: u32,
    /// How long requests at work may take to end when the source stops, in milliseconds.
    #[property(default = "5000", max = "60000")]
    pub stop_timeout: Millis,
}

/// `QueuedThreadPool.*`.
#[derive(Debug, Configuration)]
#[expect(clippy::duplicated_attributes, reason = "several keys mean nothing for one reason")]
#[configuration(
    ignored(key = "minThreads", why = "threads are shared by all components"),
    ignored(
        key = "maxThreads",
        why = "no thread waits for a request; `maxConnections` and `maxBufferedBytes` are the limits"
    ),
    ignored(key = "idleTimeout", why = "threads are shared by all components"),
    ignored(key = "reservedThreads", why = "threads are shared by all components"),
    ignored(key = "lowThreadsThreshold", why = "threads are shared by all components"),
    ignored(key = "threadsPriority", why = "threads are shared by all components"),
    ignored(key = "stopTimeout", why = "`ServerConnector.stopTimeout` is the limit"),
    ignored(key = "name", why = "threads are shared by all components"),
    ignored(key = "daemon", why = "it is a matter of the JVM"),
    ignored(key = "detailedDump", why = "it is a matter of the JVM")
)]
pub struct QueuedThreadPool {}

/// `SslContextFactory.*`.
#[derive(Debug, Configuration)]
#[expect(clippy::duplicated_attributes, reason = "several keys mean nothing for one reason")]
#[configuration(
    refused(key = "keyStoreResource", instead = "use `keystore`"),
    refused(key = "trustStoreResource", instead = "use `SslContextFactory.trustStorePath`"),
    refused(
        key = "certAlias",
        instead = "keep one key in the key store: the certificate is chosen by what the client asks for"
    ),
    refused(key = "crlPath", instead = "remove it: revocation lists are not read"),
    refused(
        key = "validateCerts",
        instead = "remove it: the server's own certificate is not checked",
        unless = "false"
    ),
    refused(
        key = "validatePeerCerts",
        instead = "remove it: revocation of clients' certificates is not checked",
        unless = "false"
    ),
    refused(key = "enableCRLDP", instead = "remove it: revocation is not checked", unless = "false"),
    refused(key = "enableOCSP", instead = "remove it: revocation is not checked", unless = "false"),
    refused(
        key = "endpointIdentificationAlgorithm",
        instead = "remove it: names of clients are not checked"
    ),
    refused(key = "trustAll", instead = "remove it, or do not ask for certificates", unless = "false"),
    refused(
        key = "renegotiationAllowed",
        instead = "remove it: there is no renegotiation",
        unless = "false"
    ),
    ignored(key = "renegotiationLimit", why = "there is no renegotiation"),
    ignored(key = "maxCertPathLength", why = "chains are limited already"),
    ignored(key = "protocol", why = "`includeProtocols` chooses"),
    ignored(key = "provider", why = "it is a matter of the JVM"),
    ignored(key = "keyStoreProvider", why = "it is a matter of the JVM"),
    ignored(key = "trustStoreProvider", why = "it is a matter of the JVM"),
    ignored(key = "secureRandomAlgorithm", why = "the system's is used"),
    ignored(key = "keyManagerFactoryAlgorithm", why = "it is a matter of the JVM"),
    ignored(key = "trustManagerFactoryAlgorithm", why = "it is a matter of the JVM"),
    ignored(key = "sessionCachingEnabled", why = "sessions are resumed by tickets or not at all"),
    ignored(key = "sslSessionCacheSize", why = "sessions are resumed by tickets or not at all"),
    ignored(key = "sslSessionTimeout", why = "sessions are resumed by tickets or not at all"),
    ignored(key = "useCipherSuitesOrder", why = "all suites on offer are as safe"),
    ignored(key = "sniRequired", why = "`keystore` has the certificate for every name")
)]
pub struct SslContextFactory {
    /// TLS protocols to allow, in place of `include-protocols`.
    #[property(alias = "IncludeProtocols")]
    pub include_protocols: Option<Words>,
    /// TLS protocols to forbid, in place of `exclude-protocols`.
    #[property(alias = "ExcludeProtocols")]
    pub exclude_protocols: Option<Words>,
    /// Cipher suites to allow, in place of `include-cipher-suites`.
    #[property(alias = "IncludeCipherSuites")]
    pub include_cipher_suites: Option<Words>,
    /// Cipher suites to forbid, in place of `exclude-cipher-suites`.
    #[property(alias = "ExcludeCipherSuites")]
    pub exclude_cipher_suites: Option<Words>,
    /// Key store file, in place of `keystore`.
    #[property(alias = "KeyStorePath")]
    pub key_store_path: Option<String>,
    /// Password of the key store, in place of `keystore-password`.
    #[property(alias = "KeyStorePassword")]
    pub key_store_password: Option<Secret>,
    /// Password of the keys, where it is that of the key store; a different one is refused when the source starts.
    #[property(alias = "KeyManagerPassword")]
    pub key_manager_password: Option<Secret>,
    /// Type of the key store, in place of `keystore-type`.
    #[property(alias = "KeyStoreType")]
    pub key_store_type: Option<String>,
    /// Trust store file, for clients' certificates.
    #[property(alias = "TrustStorePath")]
    pub trust_store_path: Option<String>,
    /// Password of the trust store.
    #[property(alias = "TrustStorePassword")]
    pub trust_store_password: Option<Secret>,
    /// Type of the trust store: JKS, JCEKS, PKCS12 or PEM.
    #[property(alias = "TrustStoreType")]
    pub trust_store_type: Option<String>,
    /// Whether a client must have a certificate that the trust store vouches for.
    #[property(alias = "NeedClientAuth", default = "false")]
    pub need_client_auth: bool,
    /// Whether a client is asked for a certificate, and may have none.
    #[property(alias = "WantClientAuth", default = "false")]
    pub want_client_auth: bool,
}
