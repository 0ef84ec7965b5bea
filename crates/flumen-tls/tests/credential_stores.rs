//! Hadoop's credential stores, as the `hadoop` configuration filter uses them.
#![allow(clippy::unwrap_used, reason = "a test may, in its functions too")]

use flumen_tls::credentials::{Credentials, CredentialsError, store_password};
use flumen_tls::{Password, StoreError};

mod golden;

fn provider(store: &str) -> String {
    format!("jceks://file{}", golden::path("stores").canonicalize().unwrap().join(store).display())
}

fn get(credentials: &Credentials, alias: &str) -> Option<String> {
    credentials.get(alias).unwrap().map(|secret| secret.expose().to_owned())
}

#[test]
fn cfg_11_secrets_come_out_with_the_default_password() {
    let credentials =
        Credentials::open(&provider("hadoop-credentials.jceks"), store_password(None, None)).unwrap();
    assert_eq!(get(&credentials, "ssl.keystore.password").as_deref(), Some("s3cr3t!"));
    assert_eq!(get(&credentials, "UPPER.Case").as_deref(), Some("upper"));
    assert_eq!(get(&credentials, "hbase.password").as_deref(), Some("päss 中文 😀"));
    assert_eq!(get(&credentials, "one-char").as_deref(), Some("x"));
    assert_eq!(get(&credentials, "missing"), None);
    assert!(!format!("{credentials:?}").contains("s3cr3t"));
}

/// A store of password `changeit`: the variable first, then the file.
#[test]
fn cfg_11_the_password_comes_from_the_variable_or_the_file() {
    let path = provider("keytool-importpass.jceks");
    for password in
        [store_password(Some("changeit"), Some("wrong")), store_password(None, Some("changeit\n"))]
    {
        assert!(get(&Credentials::open(&path, password).unwrap(), "pwd").is_some());
    }
}

#[test]
fn cfg_11_a_wrong_password_is_told() {
    for password in [store_password(Some("wrong"), Some("none")), store_password(None, Some("wrong"))] {
        let error = Credentials::open(&provider("hadoop-credentials.jceks"), password).unwrap_err();
        assert!(matches!(error, CredentialsError::Open { source: StoreError::WrongPassword, .. }), "{error}");
        assert!(
            error.to_string().ends_with("the key store password is wrong, or the key store is damaged"),
            "{error}"
        );
    }
}

#[test]
fn cfg_11_no_provider_path_is_an_error() {
    for path in ["", " ", " , "] {
        assert!(matches!(
            Credentials::open(path, Password::new("none")),
            Err(CredentialsError::NoProviderPath)
        ));
    }
}

#[test]
fn stores_are_asked_in_the_order_of_the_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nothing.jceks"), b"").unwrap();
    let at = |name: &str| format!("localjceks://file{}", folder.path().join(name).display());
    let path = [
        at("missing.jceks"),
        at("nothing.jceks"),
        "user:///".to_owned(),
        provider("hadoop-credentials-empty.jceks"),
        provider("hadoop-credentials.jceks"),
    ];
    let credentials = Credentials::open(&path.join(" ,"), store_password(None, None)).unwrap();
    assert_eq!(get(&credentials, "one-char").as_deref(), Some("x"));

    let bad = [provider("hadoop-credentials.jceks"), provider("server.p12")].join(",");
    let error = Credentials::open(&bad, store_password(None, None)).unwrap_err().to_string();
    assert!(
        error.ends_with("not a JCEKS key store: it looks like a PKCS12 key store, perhaps cut or damaged"),
        "{error}"
    );
    assert!(error.contains("server.p12"), "{error}");
}

#[test]
fn a_path_has_an_end() {
    let path = vec!["user:///"; 65].join(",");
    assert!(matches!(
        Credentials::open(&path, Password::new("x")),
        Err(CredentialsError::TooManyProviders(65))
    ));
}
