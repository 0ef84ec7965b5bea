//! TLS: whom to trust, and who is not.

use super::*;
use flumen_core::registry::Environment;
use flumen_rpc::net::acceptor;

fn store_path(name: &str) -> String {
    format!("{}/../../tests/parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

async fn tls_server(store: &Arc<Store>, keys: &str) -> Server {
    let key_store = StoreFile {
        path: store_path(keys).into(),
        password: Some(Password::new("changeit")),
        type_name: None,
    };
    let settings = TlsSettings { key_store: Some(key_store), ..TlsSettings::default() };
    let acceptor = acceptor(&settings).await.unwrap();
    Server::with_layers(store, 0, move |stream| {
        let acceptor = acceptor.clone();
        async move { Ok(Box::new(acceptor.accept(stream).await?) as BoxIo) }
    })
    .await
}

fn with_environment(properties: &[(&str, String)]) -> SinkContext {
    let mut context = sink_context(0, false);
    let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    context.common.environment = Arc::new(Environment { properties, ..Environment::default() });
    context
}

#[tokio::test]
async fn rpc_07_a_source_is_trusted_by_a_store_of_ones_own_by_the_process_wide_one_or_always() {
    let store = Arc::new(Store::default());
    let server = tls_server(&store, "server.p12").await;
    let trusted = store_path("truststore.jks");
    let wide = |password: bool| {
        let mut properties = vec![("javax.net.ssl.trustStore", trusted.clone())];
        properties.extend(password.then(|| ("javax.net.ssl.trustStorePassword", "changeit".to_owned())));
        with_environment(&properties)
    };
    let cases: [(&[(&str, &str)], SinkContext); 5] = [
        (&[("trust-all-certs", "true")], sink_context(0, false)),
        (&[("truststore", &trusted), ("truststore-password", "changeit")], sink_context(0, false)),
        (&[("truststore", &trusted)], sink_context(0, false)),
        (&[], wide(true)),
        (&[], wide(false)),
    ];
    for (n, (pairs, context)) in (0..).zip(&cases) {
        let mut sink = build(server.port, &[pairs, &[("ssl", "true")][..]].concat(), context);
        for first in (n * 10..n * 10 + 10).step_by(2) {
            assert_eq!(deliver(&mut sink, &numbered(first..first + 2)).await.unwrap(), 2);
        }
        Sink::close(&mut sink).await.unwrap();
    }
    assert_eq!(store.numbers(), (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn rpc_09_a_plain_source_and_one_that_is_not_trusted_fail() {
    let store = Arc::new(Store::default());
    let plain = Server::start(&store, 0).await;
    let stranger = tls_server(&store, "selfsigned.p12").await;
    let trusted = store_path("truststore.jks");
    for port in [plain.port, stranger.port] {
        let (context, channel) = (sink_context(0, false), channel(100, 100));
        channel.fill(&numbered(0..2));
        let pairs = [("ssl", "true"), ("truststore", &*trusted), ("connect-timeout", "1000")];
        let runner = runner(build(port, &pairs, &context), 2, &channel, &context);
        let metrics = context.metrics.clone();
        running(runner, until("a failure", || metrics.write_fail.get() >= 1)).await;
        assert_eq!(channel.numbers(), [0, 1], "the events stay");
    }
    assert!(store.numbers().is_empty());
}
