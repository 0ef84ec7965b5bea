//! The table of names, logins and stores, without any broker.

use super::{
    complete::{add_wide, complete},
    jaas, *,
};
use crate::testing::told;
use flumen_core::{config::Problem, registry::Environment};

fn try_read(role: Role, pairs: &[(&str, &str)]) -> (Option<ClientSettings>, Vec<Problem>) {
    let pairs: Vec<(String, &str)> = pairs.iter().map(|(key, value)| (format!("p.{key}"), *value)).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, *value)).collect();
    let settings = Settings::from_pairs("a", &pairs);
    let mut view = View::new(&settings);
    let read = read(&mut view, "p.", role);
    (read, view.into_problems())
}

fn native_of(role: Role, key: &str, value: &str) -> BTreeMap<String, String> {
    let (read, problems) = try_read(role, &[(key, value)]);
    read.unwrap_or_else(|| panic!("{problems:?}")).native
}

#[test]
fn settings_get_the_names_of_the_client_library() {
    for (role, java, value, native, becomes) in [
        (Role::Producer, "acks", "all", "acks", "-1"),
        (Role::Producer, "buffer.memory", "33554432", "queue.buffering.max.kbytes", "32768"),
        (Role::Producer, "max.request.size", "2000000", "message.max.bytes", "2000000"),
        (Role::Producer, "request.timeout.ms", "30000", "request.timeout.ms", "30000"),
        (Role::Producer, "delivery.timeout.ms", "1000", "delivery.timeout.ms", "1000"),
        (Role::Producer, "compression.type", "ZSTD", "compression.type", "zstd"),
        (Role::Producer, "linger.ms", "7", "linger.ms", "7"),
        (Role::Producer, "security.protocol", "SASL_SSL", "security.protocol", "sasl_ssl"),
        (Role::Producer, "sasl.mechanism", "SCRAM-SHA-256", "sasl.mechanisms", "SCRAM-SHA-256"),
        (
            Role::Producer,
            "ssl.endpoint.identification.algorithm",
            "",
            "ssl.endpoint.identification.algorithm",
            "none",
        ),
        (
            Role::Producer,
            "ssl.cipher.suites",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_256_CBC_SHA",
            "ssl.cipher.suites",
            "ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA",
        ),
        (
            Role::Producer,
            "partitioner.class",
            "org.apache.kafka.clients.producer.internals.DefaultPartitioner",
            "partitioner",
            "murmur2_random",
        ),
        (Role::Consumer, "auto.offset.reset", "none", "auto.offset.reset", "error"),
        (Role::Consumer, "fetch.max.wait.ms", "50", "fetch.wait.max.ms", "50"),
        (Role::Consumer, "request.timeout.ms", "30000", "socket.timeout.ms", "30000"),
        (Role::Consumer, "isolation.level", "READ_COMMITTED", "isolation.level", "read_committed"),
        (
            Role::Consumer,
            "partition.assignment.strategy",
            "org.apache.kafka.clients.consumer.RoundRobinAssignor, range",
            "partition.assignment.strategy",
            "roundrobin,range",
        ),
        (
            Role::Consumer,
            "partition.assignment.strategy",
            "org.apache.kafka.clients.consumer.CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor",
            "partition.assignment.strategy",
            "cooperative-sticky",
        ),
    ] {
        let settings = native_of(role, java, value);
        assert_eq!(settings.get(native).map(String::as_str), Some(becomes), "{java}={value}");
        assert_eq!(settings.len(), 1, "{settings:?}");
    }
}

#[test]
fn what_has_no_counterpart_is_named_with_the_reason() {
    let (read, problems) = try_read(
        Role::Producer,
        &[
            ("metric.reporters", "x.Y"),
            ("interceptor.classes", "x.Y"),
            ("max.block.ms", "1"),
            ("key.serializer", "org.apache.kafka.common.serialization.StringSerializer"),
            ("no.such.thing", "1"),
            ("group.id", "g"),
        ],
    );
    assert!(read.unwrap().native.is_empty());
    let told = told(&problems);
    for (told, part) in told.iter().zip([
        "JMX",
        "Java classes",
        "waits in its channel",
        "keys are text",
        "no setting",
        "kafka.consumer.group.id",
    ]) {
        assert!(told.contains(part), "{told} {part}");
    }
    assert_eq!(told.len(), 6);
    for (key, value) in [
        ("buffer.memory", "much"),
        ("linger.ms", "x"),
        ("partition.assignment.strategy", "org.apache.kafka.clients.consumer.StickyAssignor"),
        ("sasl.jaas.config", "software.amazon.msk.auth.iam.IAMLoginModule required;"),
    ] {
        assert!(try_read(Role::Consumer, &[(key, value)]).0.is_none(), "{key}");
    }
}

#[test]
fn logins_of_jaas_texts_become_sasl_settings() {
    let login = |text: &str| native_of(Role::Producer, "sasl.jaas.config", text);
    let plain = login(
        r#"org.apache.kafka.common.security.plain.PlainLoginModule required username="al;ice" password='a"\'=b';"#,
    );
    assert_eq!(plain.get("sasl.username").unwrap(), "al;ice");
    assert_eq!(plain.get("sasl.password").unwrap(), "a\"'=b");
    let scram = login(
        "org.apache.kafka.common.security.scram.ScramLoginModule required\n username=u // who\n password=p;",
    );
    assert_eq!((&*scram["sasl.username"], &*scram["sasl.password"]), ("u", "p"));
    let kerberos = login(
        r#"com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="u/h@R" serviceName="kafka";"#,
    );
    assert_eq!((&*kerberos["sasl.kerberos.keytab"], &*kerberos["sasl.kerberos.principal"]), ("/k", "u/h@R"));
    assert_eq!(kerberos["sasl.kerberos.service.name"], "kafka");
    let token = login(
        r#"org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";"#,
    );
    assert_eq!(
        (&*token["sasl.oauthbearer.config"], &*token["enable.sasl.oauthbearer.unsecure.jwt"]),
        ("principal=alice", "true")
    );
}

#[test]
fn what_is_wrong_with_a_login_is_told_without_its_values() {
    for (text, why) in [
        ("", "names no login module"),
        ("a.PlainLoginModule username=x", "no `required`"),
        ("a.PlainLoginModule required username=geheim password=geheim", "no `;`"),
        ("a.PlainLoginModule required username", "no = after `username`"),
        ("a.PlainLoginModule required username=\"geheim", "a quote is not closed"),
        ("a.PlainLoginModule required x=y; b.C required;", "more than one"),
    ] {
        let told = jaas::parse(text).unwrap_err();
        assert!(told.contains(why) && !told.contains("geheim"), "{told}");
    }
}

#[test]
fn the_login_of_a_jaas_file_is_used_where_the_client_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("jaas.conf");
    let text = "Client { x.Y required a=b; };\nKafkaClient {\n  /* ours */ x.PlainLoginModule required\n  username=\"u\" password=\"p\";\n};\n";
    std::fs::write(&path, text).unwrap();
    let mut environment = Environment::default();
    environment.properties.insert("java.security.auth.login.config".to_owned(), path.display().to_string());
    let sasl = [("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "PLAIN")];
    let settings = try_read(Role::Producer, &sasl).0.unwrap();
    let whole = complete(&settings, &environment).unwrap();
    assert_eq!((whole.get("sasl.username"), whole.get("sasl.password")), (Some("u"), Some("p")));
    let own = [sasl[0], ("sasl.jaas.config", "x.PlainLoginModule required username=own password=o;")];
    let settings = try_read(Role::Producer, &own).0.unwrap();
    assert_eq!(complete(&settings, &environment).unwrap().get("sasl.username"), Some("own"));
    environment.properties.insert("java.security.auth.login.config".to_owned(), "/no/such/file".to_owned());
    let settings = try_read(Role::Producer, &sasl).0.unwrap();
    assert!(complete(&settings, &environment).unwrap_err().contains("/no/such/file"));
}

fn wide() -> Environment {
    let mut environment = Environment::default();
    for (name, value) in [
        ("javax.net.ssl.keyStore", "k"),
        ("javax.net.ssl.keyStorePassword", "kp"),
        ("javax.net.ssl.keyStoreType", "kt"),
        ("javax.net.ssl.trustStore", "t"),
    ] {
        environment.properties.insert(name.to_owned(), value.to_owned());
    }
    environment.variables.insert("FLUME_SSL_TRUSTSTORE_PASSWORD".to_owned(), "tp".to_owned());
    environment.variables.insert("FLUME_SSL_TRUSTSTORE_TYPE".to_owned(), "tt".to_owned());
    environment
}

#[test]
fn kch_25_stores_of_the_process_are_used_with_tls_and_kch_26_own_ones_win() {
    let mut settings = ClientSettings::default();
    add_wide(&mut settings, &wide());
    let all: Vec<(&str, &str)> = settings.java.iter().map(|(key, value)| (&**key, &**value)).collect();
    let expected = [
        ("ssl.keystore.location", "k"),
        ("ssl.keystore.password", "kp"),
        ("ssl.keystore.type", "kt"),
        ("ssl.truststore.location", "t"),
        ("ssl.truststore.password", "tp"),
        ("ssl.truststore.type", "tt"),
    ];
    assert_eq!(all, expected);
    let mut own = ClientSettings::default();
    own.java.insert("ssl.truststore.location".to_owned(), "own".to_owned());
    add_wide(&mut own, &Environment::default());
    assert_eq!(own.java.len(), 1, "what is not set adds nothing");
    add_wide(&mut own, &wide());
    assert_eq!(own.java["ssl.truststore.location"], "own");
    for protocol in ["SSL", "SASL_SSL"] {
        let settings = try_read(Role::Producer, &[("security.protocol", protocol)]).0.unwrap();
        let told = complete(&settings, &wide()).unwrap_err();
        assert!(told.contains("key store") && told.contains('t'), "{told}");
    }
}

#[test]
fn kch_24_without_tls_stores_of_the_process_are_left_alone() {
    for protocol in ["PLAINTEXT", "SASL_PLAINTEXT"] {
        let settings = try_read(Role::Producer, &[("security.protocol", protocol)]).0.unwrap();
        let whole = complete(&settings, &wide()).unwrap();
        assert_eq!((whole.get("ssl.ca.pem"), whole.get("ssl.key.pem")), (None, None));
    }
}

#[test]
fn kss_25_host_names_are_left_unchecked_only_with_tls() {
    let of = |pairs: &[(&str, &str)]| {
        let settings = try_read(Role::Consumer, pairs).0.unwrap();
        settings.get("ssl.endpoint.identification.algorithm").map(str::to_owned)
    };
    let off = ("ssl.disableTLSHostnameVerification", "true");
    assert_eq!(of(&[("security.protocol", "SSL"), off]), Some("none".to_owned()));
    assert_eq!(of(&[("security.protocol", "PLAINTEXT"), off]), None);
    assert_eq!(of(&[("security.protocol", "SSL")]), None);
}

#[test]
fn stores_become_pem_texts() {
    let stores = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/keystores/stores");
    let found = |name: &str| format!("{stores}/{name}");
    let settings = |pairs: &[(&str, &str)]| try_read(Role::Producer, pairs).0.unwrap();
    let jks = found("client.jks");
    let tls = settings(&[
        ("security.protocol", "SSL"),
        ("ssl.truststore.location", &jks),
        ("ssl.truststore.password", "changeit"),
        ("ssl.keystore.location", &jks),
        ("ssl.keystore.password", "changeit"),
    ]);
    let whole = complete(&tls, &Environment::default()).unwrap();
    for (key, begins) in [
        ("ssl.ca.pem", "CERTIFICATE"),
        ("ssl.certificate.pem", "CERTIFICATE"),
        ("ssl.key.pem", "PRIVATE KEY"),
    ] {
        assert!(whole.get(key).unwrap().starts_with(&format!("-----BEGIN {begins}-----\n")), "{key}");
    }
    whole.create_native_config().unwrap();
}
