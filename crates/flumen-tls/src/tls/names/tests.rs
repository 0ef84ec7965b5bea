//! Names in, suites and protocols and warnings out.

use super::*;

fn settings(include_protocols: &str, exclude_protocols: &str, include: &str, exclude: &str) -> TlsSettings {
    TlsSettings {
        include_protocols: TlsSettings::list(include_protocols),
        exclude_protocols: TlsSettings::list(exclude_protocols),
        include_cipher_suites: TlsSettings::list(include),
        exclude_cipher_suites: TlsSettings::list(exclude),
        ..TlsSettings::default()
    }
}

fn versions(settings: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    protocols(settings).0
}

fn suites(include: &str, exclude: &str) -> Vec<String> {
    cipher_suites(&settings("", "", include, exclude)).0.iter().map(java_name).collect()
}

/// The suites of a JDK 17 that are offered here, by its names.
const OFFERED: [&str; 9] = [
    "TLS_AES_256_GCM_SHA384",
    "TLS_AES_128_GCM_SHA256",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

#[test]
fn suites_go_by_javas_names() {
    assert_eq!(suites("", ""), OFFERED);
    assert_eq!(
        suites("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ""),
        ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
    );
    assert_eq!(
        suites("ssl_ecdhe_rsa_with_aes_128_gcm_sha256", ""),
        ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
    );
    assert_eq!(
        suites("TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
        ["TLS_AES_128_GCM_SHA256"]
    );
    assert_eq!(suites("", OFFERED[0]), OFFERED[1..]);
}

#[test]
fn protocols_are_included_and_excluded() {
    assert_eq!(versions(&settings("", "", "", "")), [&TLS13, &TLS12]);
    assert_eq!(versions(&settings("TLSv1.2 TLSv1.1", "", "", "")), [&TLS12]);
    assert_eq!(versions(&settings("", "TLSv1.2 SSLv3", "", "")), [&TLS13]);
    assert_eq!(versions(&settings("TLSv1.2", "TLSv1.2", "", "")), [] as [&SupportedProtocolVersion; 0]);
}

#[test]
fn old_protocols_are_refused_with_the_reason() {
    for old in ["TLSv1", "TLSv1.1", "SSLv3"] {
        let error = provider(&settings(old, "", "", "")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("no TLS protocol is left: {old}: not offered: RFC ")), "{error}");
        assert!(settings("", old, "", "").warnings().is_empty());
    }
    let error = provider(&settings("", "TLSv1.2 TLSv1.3", "", "")).unwrap_err();
    assert_eq!(error.to_string(), "no TLS protocol is left: all are excluded");
}

#[test]
fn suites_that_are_not_offered_are_refused_with_the_reason() {
    for (name, reason) in [
        ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", "CBC"),
        ("TLS_RSA_WITH_AES_256_GCM_SHA384", "forward secrecy"),
        ("TLS_DHE_DSS_WITH_AES_128_GCM_SHA256", "ECDHE ones are instead"),
        ("SSL_RSA_WITH_RC4_128_MD5", "forward secrecy"),
        ("TLS_KRB5_WITH_RC4_128_SHA", "ECDHE ones with GCM"),
        ("TLS_NULL", "not the name of a cipher suite"),
    ] {
        let error = provider(&settings("", "", name, "")).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("no cipher suite is left: {name}: ")) && error.contains(reason),
            "{error}"
        );
    }
    // A suite of TLS 1.2 without the protocol.
    assert!(matches!(provider(&settings("TLSv1.3", "", OFFERED[8], "")), Err(TlsError::NoCipherSuite(_))));
    assert!(provider(&settings("TLSv1.2", "", OFFERED[8], "")).is_ok());
}

#[test]
fn unknown_names_are_told_once() {
    let settings = settings(
        "TLSv1.2 TLSv9",
        "TLSv9",
        "TLS_AES_128_GCM_SHA256 ECDHE-RSA",
        "TLS_RSA_WITH_AES_128_CBC_SHA",
    );
    let names: Vec<String> = settings.warnings().into_iter().map(|warning| warning.name).collect();
    assert_eq!(names, ["TLSv9", "ECDHE-RSA"]);
}
