//! HTTPS, with key stores that a JDK made.

use super::*;
use flumen_core::registry::Environment;
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

fn store(name: &str) -> String {
    format!("{}/../../tests/parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn store_file(name: &str) -> Option<StoreFile> {
    Some(StoreFile { path: store(name).into(), password: Some(Password::new("changeit")), type_name: None })
}

fn client() -> TlsSettings {
    TlsSettings { trust_store: store_file("truststore.jks"), ..TlsSettings::default() }
}

async fn connect(address: SocketAddr, settings: &TlsSettings) -> std::io::Result<TlsStream<TcpStream>> {
    let connector = TlsConnector::from(Arc::new(settings.client_config().unwrap()));
    let stream = TcpStream::connect(address).await?;
    timeout(LIMIT, connector.connect(ServerName::try_from("localhost").unwrap(), stream))
        .await
        .expect("in time")
}

/// Ten events over HTTPS are answered and stored in order.
async fn send_ten(source: &Running, settings: &TlsSettings) {
    let mut client = Client::new(connect(source.address, settings).await.unwrap());
    let events: Vec<_> = (0..10).map(|i| format!("{{\"body\":\"{i}\"}}")).collect();
    let document = format!("[{}]", events.join(","));
    assert_eq!(client.request("POST", "/", &[], document.as_bytes()).await.status, 200);
    let bodies: Vec<_> = source.stored().into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies, (0..10).map(|i| i.to_string().into_bytes()).collect::<Vec<_>>());
}

async fn https(more: &[(&str, &str)]) -> Running {
    let path = store("server.p12");
    let mut pairs = vec![("ssl", "true"), ("keystore", path.as_str()), ("keystore-password", "changeit")];
    pairs.extend_from_slice(more);
    Running::start(&pairs).await
}

#[tokio::test]
async fn http_13_events_arrive_over_https() {
    let source = https(&[]).await;
    send_ten(&source, &client()).await;
    source.stop().await;
}

#[tokio::test]
async fn http_13_the_process_wide_key_store_serves_too() {
    let mut context = source_context();
    let variables = [("FLUME_SSL_KEYSTORE_PASSWORD".to_owned(), "changeit".to_owned())].into();
    let properties = [("javax.net.ssl.keyStore".to_owned(), store("server.p12"))].into();
    context.common.environment = Arc::new(Environment { properties, variables, ..Environment::default() });
    let source = HttpSource::build(config(&[("ssl", "true")]).0.unwrap(), &context).unwrap();
    assert!(open(&source).is_ok());
    // One's own settings win.
    let own = config(&[("ssl", "true"), ("keystore", "nowhere.jks")]).0.unwrap();
    let source = HttpSource::build(own, &context).unwrap();
    assert!(open(&source).unwrap_err().contains("nowhere.jks"));
}

/// From `-D` settings, and for what these do not say from variables.
#[tokio::test]
async fn process_wide_settings_of_tls_fill_what_the_source_does_not_say() {
    let mut context = source_context();
    let properties = [
        ("javax.net.ssl.keyStore", "k.jks"),
        ("javax.net.ssl.keyStorePassword", "changeit"),
        ("javax.net.ssl.trustStore", "t.p12"),
        ("javax.net.ssl.trustStorePassword", "changeit"),
        ("javax.net.ssl.trustStoreType", "PKCS12"),
        ("flume.ssl.include.protocols", "TLSv1.2,TLSv1.3"),
        ("flume.ssl.exclude.cipherSuites", "A,B"),
    ];
    let variables = [
        ("FLUME_SSL_KEYSTORE_TYPE", "JKS"),
        ("FLUME_SSL_TRUSTSTORE_PATH", "other.jks"),
        ("FLUME_SSL_EXCLUDE_PROTOCOLS", "TLSv1.2"),
        ("FLUME_SSL_INCLUDE_CIPHERSUITES", "C"),
    ];
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let (properties, variables) = (properties.map(own).into(), variables.map(own).into());
    context.common.environment = Arc::new(Environment { properties, variables, ..Environment::default() });
    let source = HttpSource::build(config(&[("ssl", "true")]).0.unwrap(), &context).unwrap();
    let tls = source.tls.as_ref().unwrap();
    let (keys, trusted) = (tls.key_store.as_ref().unwrap(), tls.trust_store.as_ref().unwrap());
    assert_eq!((keys.path.to_str(), keys.type_name.as_deref()), (Some("k.jks"), Some("JKS")));
    assert_eq!((trusted.path.to_str(), trusted.type_name.as_deref()), (Some("t.p12"), Some("PKCS12")));
    assert!(keys.password.is_some() && trusted.password.is_some());
    assert_eq!(tls.include_protocols, ["TLSv1.2", "TLSv1.3"]);
    assert_eq!(tls.exclude_protocols, ["TLSv1.2"]);
    assert_eq!(
        (&tls.include_cipher_suites[..], &tls.exclude_cipher_suites[..]),
        (&["C".to_owned()][..], &["A".to_owned(), "B".to_owned()][..])
    );
}

fn open(source: &HttpSource) -> Result<(), String> {
    crate::sources::http::tls::acceptor(source.tls.as_ref().unwrap()).map(drop)
}

#[tokio::test]
async fn http_08_protocols_that_nobody_knows_leave_nothing_to_serve() {
    let path = store("server.p12");
    let mut source = build(&[
        ("ssl", "true"),
        ("keystore", &path),
        ("keystore-password", "changeit"),
        ("SslContextFactory.IncludeProtocols", "abc def"),
    ]);
    let (_stop, shutdown) = Shutdown::new();
    let channel = Arc::new(ScriptedChannel::new("c", 10, 10));
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), vec![channel], &[0], Arc::default());
    let error = source.run(out, shutdown).await.unwrap_err().to_string();
    assert!(error.contains("no TLS protocol is left"), "{error}");
}

#[tokio::test]
async fn http_14_old_protocols_and_plain_http_are_refused_and_harm_no_other() {
    let source = https(&[]).await;
    // A greeting of SSLv3, and one without TLS.
    let ssl_3 = b"\x16\x03\x00\x00\x2f\x01\x00\x00\x2b\x03\x00";
    let greeting = [&ssl_3[..], &[7; 32], b"\0\0\x04\0\x0a\0\x05\x01\0"].concat();
    for bytes in [&greeting[..], b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n[]"] {
        let mut plain = source.client().await;
        plain.write(bytes).await;
        while !plain.is_ended().await {}
    }
    assert_eq!(source.metrics.batch_received.get(), 0);
    send_ten(&source, &client()).await;
    source.stop().await;
}

#[tokio::test]
async fn clients_can_be_asked_for_certificates() {
    let trusted = store("truststore.jks");
    let source = https(&[
        ("SslContextFactory.needClientAuth", "true"),
        ("SslContextFactory.trustStorePath", &trusted),
        ("SslContextFactory.trustStorePassword", "changeit"),
    ])
    .await;
    // In TLS 1.3 a client learns only after its handshake that it was refused.
    if let Ok(stream) = connect(source.address, &client()).await {
        let mut refused = Client::new(stream);
        let _ =
            tokio::io::AsyncWriteExt::write_all(&mut refused.stream, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                .await;
        assert!(refused.try_reply(false).await.is_none());
    }
    let settings = TlsSettings { key_store: store_file("client.p12"), ..client() };
    send_ten(&source, &settings).await;
    source.stop().await;
}
