//! Settings: Java's, as far as they mean something, and what is said about the others.

use super::*;
use flumen_core::config::Severity;

/// What is said about settings, without the places.
fn said(pairs: &[(&str, &str)]) -> Vec<(Severity, String)> {
    config(pairs).1.into_iter().map(|problem| (problem.severity, problem.to_string())).collect()
}

#[test]
fn every_key_of_java_is_known() {
    let keys = [
        ("handler", "org.apache.flume.source.http.JSONHandler"),
        ("handler.mandatoryParameters", "a"),
        ("handler.maxBlobLength", "7"),
        ("ssl", "true"),
        ("keystore", "k"),
        ("keystore-password", "p"),
        ("keystore-type", "JKS"),
        ("exclude-protocols", "SSLv3 TLSv1"),
        ("include-protocols", "TLSv1.2"),
        ("exclude-cipher-suites", "A"),
        ("include-cipher-suites", "B"),
        ("HttpConfiguration.sendServerVersion", "false"),
        ("HttpConfiguration.sendXPoweredBy", "true"),
        ("HttpConfiguration.requestHeaderSize", "16384"),
        ("ServerConnector.idleTimeout", "1000"),
        ("ServerConnector.acceptQueueSize", "22"),
        ("SslContextFactory.IncludeProtocols", "abc def"),
        ("SslContextFactory.needClientAuth", "true"),
    ];
    assert_eq!(said(&keys), []);
    let config = config(&keys).0.unwrap();
    assert_eq!(config.connector.accept_queue_size, 22);
    assert_eq!(
        config.ssl_context.include_protocols.as_deref(),
        Some(&["abc".to_owned(), "def".to_owned()][..])
    );
}

#[test]
fn old_spellings_are_read_and_noted() {
    let keys =
        [("enableSSL", "true"), ("keystore", "k"), ("keystorePassword", "p"), ("excludeProtocols", "TLSv1")];
    let all = said(&keys);
    assert_eq!(all.len(), 3);
    assert!(
        all.iter().all(|(severity, text)| *severity == Severity::Info && text.contains("old spelling")),
        "{all:?}"
    );
    let config = config(&keys).0.unwrap();
    assert!(config.ssl);
    assert_eq!(config.keystore_password.unwrap().reveal(), "p");
}

#[test]
fn what_means_nothing_is_information_and_what_matters_is_refused() {
    let ignored =
        said(&[("QueuedThreadPool.maxThreads", "100"), ("HttpConfiguration.outputBufferSize", "4096")]);
    assert!(
        ignored.len() == 2 && ignored.iter().all(|(severity, _)| *severity == Severity::Info),
        "{ignored:?}"
    );
    for key in ["ServerConnector.port", "SslContextFactory.certAlias", "SslContextFactory.enableOCSP"] {
        let (config, problems) = config(&[(key, "1")]);
        assert!(config.is_none(), "{key}");
        assert_eq!(problems[0].severity, Severity::Error, "{problems:?}");
    }
    let unknown = said(&[("QueuedThreadPool.maxThread", "1"), ("ServerConnector.idleTimout", "1")]);
    assert!(
        unknown
            .iter()
            .all(|(severity, text)| *severity == Severity::Warning && text.contains("did you mean")),
        "{unknown:?}"
    );
}

#[test]
fn a_handler_of_ones_own_is_refused_with_the_nearest() {
    for (class, nearest) in [
        ("com.telefonica.iot.cygnus.handlers.NGSIRestHandler", "org.apache.flume.source.http.JSONHandler"),
        ("org.apache.flume.source.http.JsonHandler", "org.apache.flume.source.http.JSONHandler"),
        ("com.example.MyBlobHandler", "org.apache.flume.source.http.BLOBHandler"),
        (
            "org.apache.flume.sink.solr.morphline.BLobHandler",
            "org.apache.flume.sink.solr.morphline.BlobHandler",
        ),
    ] {
        let problem = said(&[("handler", class)]).remove(0);
        assert_eq!(problem.0, Severity::Error);
        assert!(problem.1.contains(class) && problem.1.contains(nearest), "{}", problem.1);
    }
}

#[test]
fn settings_that_do_not_fit_together_are_refused() {
    let refusal = |pairs: &[(&str, &str)]| {
        HttpSource::build(config(pairs).0.unwrap(), &source_context()).unwrap_err().to_string()
    };
    assert!(refusal(&[("ssl", "true")]).contains("a.sources.r.keystore"));
    assert!(refusal(&[("ssl", "true"), ("keystore", "k")]).contains("a.sources.r.keystore-password"));
    let two = [
        ("ssl", "true"),
        ("keystore", "k"),
        ("keystore-password", "secret-1"),
        ("SslContextFactory.keyManagerPassword", "secret-2"),
    ];
    let text = refusal(&two);
    assert!(text.contains("keyManagerPassword") && !text.contains("secret-"), "{text}");
    assert!(refusal(&[("maxBufferedBytes", "5")]).contains("maxRequestBytes"));
}

#[test]
fn the_port_is_told_and_required() {
    let facts = HttpSource::facts(&config(&[("port", "5140")]).0.unwrap());
    assert_eq!((facts.listens[0].host.as_str(), facts.listens[0].port), ("127.0.0.1", 5140));
    let (config, problems) = read::<HttpConfig>(&Settings::from_pairs("a.sources.r", &[("bind", "h")]), &[]);
    assert!(
        config.is_none() && problems[0].to_string().contains("a.sources.r.port: is required"),
        "{problems:?}"
    );
}
