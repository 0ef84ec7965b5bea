//! Syslog over TLS, with a key store that a JDK made.

use super::*;
use flumen_core::channel::Channel;
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

fn store(name: &str) -> String {
    format!("{}/../../tests/parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn sys_07_messages_come_over_tls_and_what_is_not_tls_harms_nobody() {
    let (context, _) = source_context();
    let path = store("server.p12");
    let pairs = [
        ("ssl", "true"),
        ("keystore", path.as_str()),
        ("keystore-password", "changeit"),
        ("keystore-type", "PKCS12"),
    ];
    let (channel, source) = (large_channel(), source_in(&pairs, &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let mut plain = TcpStream::connect(addresses[0]).await.unwrap();
        plain.write_all(b"<13>in the open\n").await.unwrap();
        let trust = StoreFile {
            path: store("truststore.jks").into(),
            password: Some(Password::new("changeit")),
            type_name: None,
        };
        let settings = TlsSettings { trust_store: Some(trust), ..TlsSettings::default() };
        let connector = TlsConnector::from(Arc::new(settings.client_config().unwrap()));
        let stream = TcpStream::connect(addresses[0]).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = tokio::time::timeout(LIMIT, connector.connect(name, stream)).await.unwrap().unwrap();
        stream.write_all(b"<13>secret\n").await.unwrap();
        stream.shutdown().await.unwrap();
        until("the message", || channel.depth().queued == 1).await;
    })
    .await;
    assert_eq!(brief(&crate::shared::syslog::recorded::shown(&channel.contents())), [("<13>secret", "")]);
}

#[test]
fn tls_needs_a_key_store() {
    let (context, _) = source_context();
    let all = [("host", "h"), ("port", "1"), ("ssl", "true")];
    let (config, _) = read::<SyslogTcpConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    let error = SyslogTcpSource::build(config.unwrap(), &context).unwrap_err().to_string();
    assert!(error.contains("a.sources.r.keystore"), "{error}");
}
