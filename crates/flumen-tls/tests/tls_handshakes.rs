//! Handshakes in memory, with the keys and certificates of the golden key stores.
#![allow(clippy::unwrap_used, reason = "a test may, in its functions too")]

use std::sync::Arc;

use flumen_tls::Password;
use flumen_tls::tls::{ClientAuth, StoreFile, TlsError, TlsSettings};
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, CertificateError, ClientConnection, Error, ProtocolVersion, ServerConnection,
};

mod golden;

fn store(name: &str) -> Option<StoreFile> {
    Some(StoreFile { path: golden::path(name), password: Some(Password::new("changeit")), type_name: None })
}

fn pem(name: &str) -> Option<StoreFile> {
    let path = golden::path(&format!("pem/{name}"));
    Some(StoreFile { path, password: None, type_name: Some("PEM".to_owned()) })
}

fn server(key_store: &str) -> TlsSettings {
    TlsSettings { key_store: store(key_store), ..TlsSettings::default() }
}

fn client() -> TlsSettings {
    TlsSettings { trust_store: store("stores/truststore.jks"), ..TlsSettings::default() }
}

/// What the client and the server say in the end.
struct Outcome {
    client: Result<ClientConnection, Error>,
    server: Result<ServerConnection, Error>,
}

/// Lets both talk until neither has anything to say, and then one more word each way.
fn shake_hands(server: &TlsSettings, client: &TlsSettings, host: &str) -> Outcome {
    let host = ServerName::try_from(host.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(client.client_config().unwrap()), host).unwrap();
    let mut server = ServerConnection::new(Arc::new(server.server_config().unwrap())).unwrap();
    let (mut client_error, mut server_error) = (None, None);
    for _ in 0..20 {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        server.read_tls(&mut &wire[..]).unwrap();
        server_error = server_error.or(server.process_new_packets().err());
        let mut wire = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        client.read_tls(&mut &wire[..]).unwrap();
        client_error = client_error.or(client.process_new_packets().err());
    }
    assert!(
        client_error.is_some()
            || server_error.is_some()
            || !client.is_handshaking() && !server.is_handshaking()
    );
    Outcome { client: client_error.map_or(Ok(client), Err), server: server_error.map_or(Ok(server), Err) }
}

fn refused_by_client(server: &TlsSettings, client: &TlsSettings, host: &str) -> CertificateError {
    match shake_hands(server, client, host).client {
        Err(Error::InvalidCertificate(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the client is content"),
    }
}

fn succeeds(server: &TlsSettings, client: &TlsSettings, host: &str) -> (ClientConnection, ServerConnection) {
    let outcome = shake_hands(server, client, host);
    (outcome.client.unwrap(), outcome.server.unwrap())
}

#[test]
fn servers_of_every_type_of_store_are_trusted() {
    for name in [
        "bad-trailing.jks",
        "server.jceks",
        "server.p12",
        "server-ec.jks",
        "server-ec.p12",
        "openssl-legacy-rc2.p12",
    ] {
        let mut server = server(&format!("stores/{name}"));
        if let (Some(store), true) = (&mut server.key_store, name.ends_with("jceks")) {
            store.type_name = Some("jceks".to_owned());
        }
        let (client, _) = succeeds(&server, &client(), "localhost");
        assert_eq!(client.protocol_version(), Some(ProtocolVersion::TLSv1_3), "{name}");
        assert_eq!(client.peer_certificates().unwrap().len(), 2, "{name}");
    }
}

#[test]
fn pem_files_do_as_well() {
    let server = TlsSettings { key_store: pem("server.combined.pem"), ..TlsSettings::default() };
    let client = TlsSettings { trust_store: pem("ca.crt"), ..TlsSettings::default() };
    succeeds(&server, &client, "127.0.0.1");

    // A SEC1 key is made into PKCS#8, and fits its certificate.
    let mut both = golden::bytes("pem/server-ec.sec1.key");
    both.extend(golden::bytes("pem/server-ec.chain.crt"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), both).unwrap();
    let key_store =
        StoreFile { path: file.path().to_owned(), password: None, type_name: Some("pem".to_owned()) };
    let server = TlsSettings { key_store: Some(key_store), ..TlsSettings::default() };
    succeeds(&server, &client, "localhost");
}

#[test]
fn a_key_that_is_not_its_certificates_is_refused() {
    let mut both = golden::bytes("pem/client-ec.key");
    both.extend(golden::bytes("pem/server-ec.chain.crt"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), both).unwrap();
    let key_store =
        StoreFile { path: file.path().to_owned(), password: None, type_name: Some("pem".to_owned()) };
    let error =
        TlsSettings { key_store: Some(key_store), ..TlsSettings::default() }.server_config().unwrap_err();
    assert!(matches!(error, TlsError::KeyNotUsable { .. }), "{error}");
}

#[test]
fn wrong_certificates_are_refused_by_the_client() {
    let wrong_host = server("stores/wronghost.jks");
    let error = refused_by_client(&wrong_host, &client(), "localhost");
    assert!(
        matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
        "{error:?}"
    );
    succeeds(&wrong_host, &client(), "wrong.example");
    succeeds(&wrong_host, &TlsSettings { verify_host: false, ..client() }, "localhost");

    let expired = refused_by_client(&server("stores/expired.jks"), &client(), "localhost");
    assert!(
        matches!(expired, CertificateError::Expired | CertificateError::ExpiredContext { .. }),
        "{expired:?}"
    );
    let future = refused_by_client(&server("stores/future.jks"), &client(), "localhost");
    assert!(
        matches!(future, CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }),
        "{future:?}"
    );
    assert_eq!(
        refused_by_client(&server("stores/selfsigned.jks"), &client(), "localhost"),
        CertificateError::UnknownIssuer
    );
    // Not even with host names unverified.
    let careless = TlsSettings { verify_host: false, ..client() };
    assert_eq!(
        refused_by_client(&server("stores/selfsigned.jks"), &careless, "localhost"),
        CertificateError::UnknownIssuer
    );
}

/// What the operator reads of an error.
fn told(error: Error) -> String {
    flumen_tls::tls::handshake_failure(&std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

#[test]
fn failures_come_with_their_cure() {
    let refused = |name: &str| {
        told(shake_hands(&server(&format!("stores/{name}.jks")), &client(), "localhost").client.unwrap_err())
    };
    assert!(refused("selfsigned").contains("the trust store has neither"), "{}", refused("selfsigned"));
    assert!(refused("expired").contains("needs a new certificate"), "{}", refused("expired"));
    assert!(refused("future").contains("clock"), "{}", refused("future"));
    assert!(refused("wronghost").contains("subject alternative names"), "{}", refused("wronghost"));
    assert!(told(Error::AlertReceived(AlertDescription::UnknownCA)).contains("the peer's trust store"));
    assert!(told(Error::NoCertificatesPresented).contains("client-auth"));
    assert_eq!(told(Error::DecryptError), Error::DecryptError.to_string());
}

#[test]
fn an_authoritys_certificate_on_a_server_comes_with_its_cure() {
    let pair = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(pair.path(), include_bytes!("authority-as-server.pem")).unwrap();
    let key_store =
        StoreFile { path: pair.path().to_owned(), password: None, type_name: Some("PEM".to_owned()) };
    let server = TlsSettings { key_store: Some(key_store), ..TlsSettings::default() };
    let error = told(shake_hands(&server, &client(), "localhost").client.unwrap_err());
    assert!(error.contains("CaUsedAsEndEntity") && error.contains("basicConstraints=CA:FALSE"), "{error}");
}

#[test]
fn trust_all_takes_any_certificate() {
    let trust_all = TlsSettings { trust_all: true, ..TlsSettings::default() };
    for name in ["expired", "future", "selfsigned", "wronghost", "other-client"] {
        succeeds(&server(&format!("stores/{name}.jks")), &trust_all, "localhost");
    }
}

#[test]
fn a_certificate_in_the_trust_store_is_trusted_without_a_chain() {
    for name in ["selfsigned", "selfsigned-ec", "expired"] {
        let client = TlsSettings { trust_store: pem(&format!("{name}.crt")), ..TlsSettings::default() };
        succeeds(&server(&format!("stores/{name}.jks")), &client, "localhost");
    }
    // The host is looked at all the same.
    let client = TlsSettings { trust_store: pem("wronghost.crt"), ..TlsSettings::default() };
    refused_by_client(&server("stores/wronghost.jks"), &client, "localhost");
}

#[test]
fn clients_show_certificates_where_asked() {
    let asking = |client_auth| TlsSettings {
        trust_store: store("stores/truststore.jks"),
        client_auth,
        ..server("stores/server.p12")
    };
    let showing = |name: &str| TlsSettings { key_store: store(&format!("stores/{name}")), ..client() };
    for wanted in [ClientAuth::Want, ClientAuth::Need] {
        for name in ["client.jks", "client-ec.p12"] {
            let (_, server) = succeeds(&asking(wanted), &showing(name), "localhost");
            assert_eq!(server.peer_certificates().map(<[_]>::len), Some(2), "{name}");
        }
        let stranger = shake_hands(&asking(wanted), &showing("other-client.jks"), "localhost");
        assert!(matches!(stranger.server, Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))));
        assert_eq!(stranger.client.unwrap_err(), Error::AlertReceived(AlertDescription::UnknownCA));
    }
    let nameless = shake_hands(&asking(ClientAuth::Need), &client(), "localhost");
    assert_eq!(nameless.server.unwrap_err(), Error::NoCertificatesPresented);
    let (_, server) = succeeds(&asking(ClientAuth::Want), &client(), "localhost");
    assert!(server.peer_certificates().is_none());

    // Its own certificate in the trust store is enough.
    let other = TlsSettings { trust_store: pem("other-client.crt"), ..asking(ClientAuth::Need) };
    succeeds(&other, &showing("other-client.jks"), "localhost");
}

#[test]
fn the_key_fits_the_suites() {
    // Both an RSA and an EC key, RSA first.
    let both = server("stores/mixed.p12");
    let only = |suite: &str| TlsSettings {
        include_protocols: TlsSettings::list("TLSv1.2"),
        include_cipher_suites: TlsSettings::list(suite),
        trust_all: true,
        ..TlsSettings::default()
    };
    for suite in ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"] {
        let (client, _) = succeeds(&both, &only(suite), "localhost");
        assert_eq!(format!("{:?}", client.negotiated_cipher_suite().unwrap().suite()), suite);
        assert_eq!(client.protocol_version(), Some(ProtocolVersion::TLSv1_2));
    }
    // No EC key, EC suites only.
    let outcome = shake_hands(
        &server("stores/server.p12"),
        &only("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        "localhost",
    );
    assert!(outcome.client.is_err() && outcome.server.is_err());
}

#[test]
fn protocols_that_do_not_meet_are_refused() {
    let new =
        TlsSettings { exclude_protocols: TlsSettings::list("TLSv1.2 SSLv3"), ..server("stores/server.p12") };
    let old = TlsSettings { include_protocols: TlsSettings::list("TLSv1.2"), ..client() };
    assert!(matches!(shake_hands(&new, &old, "localhost").server, Err(Error::PeerIncompatible(_))));
}

#[test]
fn settings_that_cannot_work_are_told() {
    let told = |settings: &TlsSettings| settings.server_config().unwrap_err().to_string();
    assert_eq!(told(&TlsSettings::default()), "TLS needs a key store, and none is set");
    assert!(told(&server("stores/truststore.jks")).ends_with("has no private key with a certificate"));
    assert!(told(&server("stores/missing.jks")).contains("was not read: No such file"));
    assert!(
        told(&server("stores/hadoop-credentials.jceks"))
            .ends_with("not a JKS key store: it looks like a JCEKS key store")
    );
    // A key with another password than the store's.
    let message = told(&server("stores/keypass-differs.jks"));
    assert!(
        message.starts_with("private key `server` of")
            && message.ends_with("the key password is wrong, or the key is damaged")
    );
    let mut odd = server("stores/server.p12");
    odd.key_store.as_mut().unwrap().type_name = Some("BKS".to_owned());
    assert!(told(&odd).contains("key store type \"BKS\""));
    let trustless = TlsSettings { trust_store: store("stores/empty.jks"), ..TlsSettings::default() };
    assert!(matches!(trustless.client_config(), Err(TlsError::NothingTrusted { .. })));
}
