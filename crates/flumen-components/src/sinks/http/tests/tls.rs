//! HTTPS: whom to trust, and who is not.

use super::*;
use flumen_core::registry::Environment;
use flumen_rpc::net::{BoxIo, acceptor};

fn store_path(name: &str) -> String {
    format!("{}/../../tests/parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

async fn tls_server() -> Server {
    let key_store = StoreFile {
        path: store_path("server.p12").into(),
        password: Some(Password::new("changeit")),
        type_name: None,
    };
    let settings = TlsSettings { key_store: Some(key_store), ..TlsSettings::default() };
    let acceptor = acceptor(&settings).await.unwrap();
    // Every address of this machine, also those that the certificate does not name.
    Server::with_layers("0.0.0.0", move |stream| {
        let acceptor = acceptor.clone();
        async move { Ok(Box::new(acceptor.accept(stream).await?) as BoxIo) }
    })
    .await
}

#[tokio::test]
async fn a_server_is_trusted_by_a_store_of_ones_own_or_the_process_wide_one() {
    let server = tls_server().await;
    let url = format!("https://localhost:{}/", server.address.port());
    let trusted = store_path("truststore.jks");
    let mut wide = sink_context(0, false);
    let properties = [("javax.net.ssl.trustStore".to_owned(), trusted.clone())].into();
    wide.common.environment = Arc::new(Environment { properties, ..Environment::default() });
    let own = [&OK[..], &[("truststore", trusted.as_str()), ("truststore-password", "changeit")]].concat();
    for mut sink in [build(&url, &own, &sink_context(0, false)), build(&url, &OK, &wide)] {
        assert_eq!(deliver(&mut sink, &["a", "b"]).await.unwrap().done, 2);
    }
    assert_eq!(server.script.bodies(), ["a", "b", "a", "b"]);
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_gets_nothing() {
    let server = tls_server().await;
    let url = format!("https://localhost:{}/", server.address.port());
    let mut unknown = build(&url, &OK, &sink_context(0, false));
    let error = deliver(&mut unknown, &["secret"]).await.unwrap_err().to_string();
    assert!(error.contains("TLS"), "{error}");
    // A trusted one by another name is not the one that was meant.
    let other = format!("https://127.0.0.2:{}/", server.address.port());
    let trusted = store_path("truststore.jks");
    let mut other = build(&other, &[&OK[..], &[("truststore", &trusted)]].concat(), &sink_context(0, false));
    assert!(deliver(&mut other, &["secret"]).await.is_err());
    let mut plain = build(&url.replace("https", "http"), &OK, &sink_context(0, false));
    assert!(deliver(&mut plain, &["secret"]).await.is_err());
    assert!(server.script.bodies().is_empty());
}
