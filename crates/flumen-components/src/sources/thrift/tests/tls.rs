//! TLS, with key stores that a JDK made.

use super::*;
use crate::testing::fixture;
use flumen_core::registry::Environment;
use flumen_rpc::net::connector;
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};

fn store(name: &str) -> String {
    fixture("../golden/keystores/stores").join(name).to_str().unwrap().to_owned()
}

fn trusting() -> TlsSettings {
    let trust_store = StoreFile {
        path: store("truststore.jks").into(),
        password: Some(Password::new("changeit")),
        type_name: None,
    };
    TlsSettings { trust_store: Some(trust_store), ..TlsSettings::default() }
}

async fn send_thirty(source: &Running) {
    let connector = connector(&trusting()).await.unwrap();
    let target = Target { host: "localhost".into(), port: source.target.port };
    let stream = dial(&target, Some(&connector), LIMIT).await.unwrap();
    let mut client = Connection::new(stream, Protocol::Compact);
    for n in 0..30 {
        client.append(&numbers(0..30), n).await.unwrap();
    }
    assert_eq!(source.bodies(), texts(0..30));
}

#[tokio::test]
async fn rpc_28_thirty_events_arrive_in_order_over_tls() {
    for (name, more) in [("server-ec.jks", None), ("server.p12", Some(("keystore-type", "PKCS12")))] {
        let path = store(name);
        let mut pairs = vec![("ssl", "true"), ("keystore", path.as_str()), ("keystore-password", "changeit")];
        pairs.extend(more);
        let source = Running::start(&pairs).await;
        send_thirty(&source).await;
        source.stop().await;
    }
}

#[tokio::test]
async fn rpc_28_the_process_wide_key_store_serves_too() {
    let mut context = source_context();
    let variables = [("FLUME_SSL_KEYSTORE_PASSWORD".to_owned(), "changeit".to_owned())].into();
    let properties = [("javax.net.ssl.keyStore".to_owned(), store("server.p12"))].into();
    context.common.environment = Arc::new(Environment { properties, variables, ..Environment::default() });
    let source = ThriftSource::build(config(&[("ssl", "true")]).0.unwrap(), &context).unwrap();
    acceptor(source.tls.as_ref().unwrap()).await.map(drop).unwrap();
    // One's own settings win.
    let own = config(&[("ssl", "true"), ("keystore", "nowhere.jks")]).0.unwrap();
    let source = ThriftSource::build(own, &context).unwrap();
    let error = acceptor(source.tls.as_ref().unwrap()).await.map(drop).unwrap_err();
    assert!(error.contains("nowhere.jks"), "{error}");
}

#[tokio::test]
async fn fix_81_without_a_usable_key_store_nothing_listens() {
    let missing = config(&[("ssl", "true")]).0.unwrap();
    let error = ThriftSource::build(missing, &source_context()).unwrap_err().to_string();
    assert!(error.contains("set a.sources.r.keystore"), "{error}");
    let path = store("server.p12");
    let missing = config(&[("ssl", "true"), ("keystore", &path)]).0.unwrap();
    let error = ThriftSource::build(missing, &source_context()).unwrap_err().to_string();
    assert!(error.contains("set a.sources.r.keystore-password"), "{error}");
    let wrong = [("ssl", "true"), ("keystore", path.as_str()), ("keystore-password", "wrong")];
    let mut source = ThriftSource::build(config(&wrong).0.unwrap(), &source_context()).unwrap();
    let (_stop, shutdown) = Shutdown::new();
    let channel = Arc::new(ScriptedChannel::new("c", 10, 10));
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), vec![channel], &[0], Arc::default());
    assert!(source.run(out, shutdown).await.is_err());
    assert!(source.address().borrow().is_none(), "it has not listened");
}

#[tokio::test]
async fn a_client_without_tls_is_refused_and_harms_no_other() {
    let path = store("server.p12");
    let source =
        Running::start(&[("ssl", "true"), ("keystore", &path), ("keystore-password", "changeit")]).await;
    let mut plain = source.client(Protocol::Compact).await;
    assert!(plain.append(&numbers(0..1), 0).await.is_err());
    assert_eq!(source.metrics.append_received.get(), 0);
    send_thirty(&source).await;
    source.stop().await;
}
