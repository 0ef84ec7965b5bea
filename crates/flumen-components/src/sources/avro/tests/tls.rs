//! TLS, alone and with compression, and certificates of clients.

use super::*;
use flumen_core::registry::Environment;
use flumen_rpc::net::connector;

fn store(name: &str) -> String {
    format!("{}/../../tests/parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn store_file(name: &str) -> Option<StoreFile> {
    Some(StoreFile { path: store(name).into(), password: Some(Password::new("changeit")), type_name: None })
}

async fn options(key_store: Option<&str>, compression: Option<Compression>) -> Options {
    let settings = TlsSettings {
        trust_store: store_file("truststore.jks"),
        key_store: key_store.and_then(store_file),
        verify_host: false,
        ..TlsSettings::default()
    };
    Options { tls: Some(connector(&settings).await.unwrap()), compression, ..quick() }
}

#[tokio::test]
async fn rpc_19_tls_clients_are_served_from_a_key_store_of_ones_own_or_the_process_wide_one() {
    let own = [
        ("ssl", "true"),
        ("keystore", &*store("server.p12")),
        ("keystore-password", "changeit"),
        ("keystore-type", "PKCS12"),
    ];
    let mut context = source_context();
    let variables = [("FLUME_SSL_KEYSTORE_PASSWORD".to_owned(), "changeit".to_owned())].into();
    let properties = [("javax.net.ssl.keyStore".to_owned(), store("server.p12"))].into();
    context.common.environment = Arc::new(Environment { properties, variables, ..Environment::default() });
    let wide = AvroSource::build(config(&[("ssl", "true")]).unwrap(), &context).unwrap();
    for source in [source(&own), wide] {
        let channel = channel(100, 100);
        running(source, &channel, async |target| {
            append(&target, &options(None, None).await, &numbered(0..10)).await.unwrap();
            let plain = append(&target, &quick(), &numbered(10..20)).await.unwrap_err();
            assert!(!plain.is_answer(), "{plain}");
        })
        .await;
        assert_eq!(channel.numbers(), (0..10).collect::<Vec<_>>());
    }
    let without = AvroSource::build(config(&[("ssl", "true")]).unwrap(), &source_context()).unwrap_err();
    assert!(without.to_string().contains("a.sources.r.keystore"), "{without}");
}

#[tokio::test]
async fn with_compression_and_tls_both_orders_of_the_layers_are_spoken() {
    for within_tls in [false, true] {
        let within = within_tls.to_string();
        let path = store("server.p12");
        let pairs = [
            ("ssl", "true"),
            ("keystore", &*path),
            ("keystore-password", "changeit"),
            ("compression-type", "deflate"),
            ("compression-within-tls", &within),
        ];
        let channel = channel(100, 100);
        running(source(&pairs), &channel, async |target| {
            let same = options(None, Some(Compression { level: 9, within_tls })).await;
            append(&target, &same, &numbered(0..10)).await.unwrap();
            let other = options(None, Some(Compression { level: 9, within_tls: !within_tls })).await;
            append(&target, &other, &numbered(10..20)).await.unwrap_err();
        })
        .await;
        assert_eq!(channel.numbers(), (0..10).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_client_without_a_certificate_is_refused_where_one_is_needed() {
    let (key, trust) = (store("server.p12"), store("truststore.jks"));
    for (auth, bare) in [("need", false), ("want", true)] {
        let pairs = [
            ("ssl", "true"),
            ("keystore", &*key),
            ("keystore-password", "changeit"),
            ("client-auth", auth),
            ("truststore", &*trust),
            ("truststore-password", "changeit"),
        ];
        let channel = channel(100, 100);
        running(source(&pairs), &channel, async |target| {
            append(&target, &options(Some("client.jks"), None).await, &numbered(0..10)).await.unwrap();
            let without = append(&target, &options(None, None).await, &numbered(10..20)).await;
            assert_eq!(without.is_ok(), bare, "{auth}: {without:?}");
        })
        .await;
    }
    let error =
        AvroSource::build(config(&[("client-auth", "need")]).unwrap(), &source_context()).unwrap_err();
    assert!(error.to_string().contains("a.sources.r.ssl"), "{error}");
}
