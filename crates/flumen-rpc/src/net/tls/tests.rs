//! Where TLS settings come from.

use super::*;
use flumen_core::config::{Settings, View};

fn environment(properties: &[(&str, &str)], variables: &[(&str, &str)]) -> Environment {
    let map =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Environment { properties: map(properties), variables: map(variables), ..Environment::default() }
}

fn read<C: Configuration>(settings: &[(&str, &str)]) -> C {
    let settings = Settings::from_pairs("a.sinks.k.", settings);
    C::read(&mut View::new(&settings)).unwrap()
}

#[test]
fn rpc_30_a_store_is_that_of_the_component_then_of_a_property_then_of_a_variable() {
    let variables = [
        ("FLUME_SSL_TRUSTSTORE_PATH", "v"),
        ("FLUME_SSL_TRUSTSTORE_TYPE", "PKCS12"),
        ("FLUME_SSL_TRUSTSTORE_PASSWORD", "pw"),
    ];
    let properties = [("javax.net.ssl.trustStore", "p"), ("javax.net.ssl.trustStoreType", "JCEKS")];
    let store = |config: &[(&str, &str)], environment: &Environment| {
        let tls: ClientTlsConfig = read(&[config, &[("ssl", "true")]].concat());
        tls.settings(environment, false)
            .unwrap()
            .trust_store
            .map(|store| (store.path.to_str().unwrap().to_owned(), store.type_name, store.password.is_some()))
    };
    let some =
        |path: &str, kind: Option<&str>, secret| Some((path.to_owned(), kind.map(str::to_owned), secret));
    let both = environment(&properties, &variables);
    assert_eq!(store(&[("truststore", "own")], &both), some("own", Some("JCEKS"), true));
    assert_eq!(store(&[], &both), some("p", Some("JCEKS"), true));
    assert_eq!(store(&[], &environment(&[], &variables)), some("v", Some("PKCS12"), true));
    assert_eq!(store(&[], &environment(&properties[..1], &[])), some("p", None, false));
    assert_eq!(store(&[], &Environment::default()), None);

    let key = |key: &str| format!("a.sources.r.{key}");
    let server: ServerTlsConfig = read(&[("ssl", "true")]);
    let error = server.settings(&Environment::default(), &key).unwrap_err().to_string();
    assert!(error.contains("a.sources.r.keystore"), "{error}");
    let path = [("javax.net.ssl.keyStore", "k")];
    let error = server.settings(&environment(&path, &[]), &key).unwrap_err().to_string();
    assert!(error.contains("a.sources.r.keystore-password"), "{error}");
    let secret = [("FLUME_SSL_KEYSTORE_PASSWORD", "pw"), ("FLUME_SSL_KEYSTORE_TYPE", "PEM")];
    let store = server.settings(&environment(&path, &secret), &key).unwrap().unwrap().key_store.unwrap();
    assert_eq!((store.path.to_str(), store.type_name.as_deref()), (Some("k"), Some("PEM")));
    let off: ServerTlsConfig = read(&[]);
    assert!(off.settings(&Environment::default(), &key).unwrap().is_none());
}

#[test]
fn rpc_31_process_wide_lists_have_commas_and_the_property_wins() {
    let variables = [
        ("FLUME_SSL_INCLUDE_PROTOCOLS", "TLSv1.2"),
        ("FLUME_SSL_EXCLUDE_PROTOCOLS", "SSLv3,TLSv1"),
        ("FLUME_SSL_INCLUDE_CIPHERSUITES", "a,b"),
        ("FLUME_SSL_EXCLUDE_CIPHERSUITES", "c"),
    ];
    let properties =
        [("flume.ssl.include.protocols", "TLSv1.3,TLSv1.2"), ("flume.ssl.exclude.cipherSuites", "x,y")];
    let tls: ClientTlsConfig = read(&[("ssl", "true"), ("exclude-protocols", "TLSv1.1 TLSv1")]);
    let settings = tls.settings(&environment(&properties, &variables), false).unwrap();
    assert_eq!(settings.include_protocols, ["TLSv1.3", "TLSv1.2"]);
    assert_eq!(settings.exclude_protocols, ["TLSv1.1", "TLSv1"], "the component's own comes first");
    assert_eq!(settings.include_cipher_suites, ["a", "b"]);
    assert_eq!(settings.exclude_cipher_suites, ["x", "y"]);
    let plain: ClientTlsConfig = read(&[("ssl", "true")]);
    let settings = plain.settings(&Environment::default(), false).unwrap();
    assert!(settings.include_protocols.is_empty() && settings.exclude_cipher_suites.is_empty());
    assert!(!settings.verify_host && !settings.trust_all);
}
