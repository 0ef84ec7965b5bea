//! `#[derive(Configuration)]` as a component's author uses it, and what operators are told.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use flumen_core::config::{
    Commas, Configuration, Effect, Millis, Port, Problem, Property, PropertyValue, Secret, Settings,
    Severity, Url, View, Words, flat, read,
};

/// Sends each event to an HTTP endpoint.
#[derive(Debug, Configuration)]
#[configuration(
    ignored(key = "maxIoWorkers", why = "threads are shared by all components"),
    ignored(key = "jmx.", why = "there is no JVM"),
    refused(key = "kerberosPrincipal", instead = "use `basicAuth`"),
    refused(key = "anonymous", instead = "remove it", unless = "false")
)]
struct HttpConfig {
    /// URL that each event is sent to.
    endpoint: Url,
    /// How long to wait for a connection.
    ///
    /// Two paragraphs.
    #[property(default = "5000", alias = "connect-timeout", deprecated = "timeout")]
    connect_timeout: Millis,
    /// Events a request.
    #[property(key = "hdfs.batchSize", default = "100", on_bad = default)]
    batch: NonZeroU32,
    /// Tries.
    #[property(default = "3", min = "1", max = "10")]
    tries: u32,
    /// Whether to send headers.
    #[property(default = "false")]
    headers: bool,
    /// Password of the user.
    password: Option<Secret>,
    /// Number that opens the door.
    #[property(secret, default = "0")]
    pin: u32,
    /// Port of a proxy.
    proxy_port: Option<Port>,
    /// Whether to pause after a status.
    #[property(prefix = "backoff.")]
    backoff: BTreeMap<u16, bool>,
    /// Hosts to try.
    #[property(default = "")]
    hosts: Commas,
    /// Names to send.
    #[property(default = "")]
    names: Words,
    /// How events become text.
    #[property(nested = "serializer.")]
    serializer: SerializerConfig,
    #[property(flatten)]
    tls: TlsConfig,
    /// Handed to the handler.
    #[property(prefix = "handler.")]
    handler: Settings,
}

#[derive(Debug, Configuration)]
struct SerializerConfig {
    /// Whether each event ends with a newline.
    #[property(default = "true")]
    append_newline: bool,
}

#[derive(Debug, Configuration)]
struct TlsConfig {
    /// Whether to encrypt.
    #[property(default = "false")]
    ssl: bool,
}

#[derive(Debug, Configuration)]
struct Nothing {}

fn http(pairs: &[(&str, &str)]) -> (Option<HttpConfig>, Vec<String>) {
    let (config, problems) = read(&Settings::from_pairs("a.sinks.k.", pairs), &[COMMON]);
    (config, problems.iter().map(|problem| format!("{} {problem}", problem.severity)).collect())
}

/// With the one key that is required.
fn with(pairs: &[(&str, &str)]) -> (Option<HttpConfig>, Vec<String>) {
    let pairs: Vec<_> = [("endpoint", "http://h/")].iter().chain(pairs).copied().collect();
    http(&pairs)
}

fn good(pairs: &[(&str, &str)]) -> HttpConfig {
    let (config, problems) = with(pairs);
    assert_eq!(problems, [] as [String; 0]);
    config.expect("no problem, so it is built")
}

/// The only problem of a configuration that can be built.
fn warned(pairs: &[(&str, &str)]) -> (HttpConfig, String) {
    let (config, problems) = with(pairs);
    assert_eq!(problems.len(), 1, "{problems:?}");
    (config.expect("it is only warned about"), problems[0].clone())
}

/// The only problem of a configuration that cannot be built.
fn refused(pairs: &[(&str, &str)]) -> String {
    let (config, problems) = with(pairs);
    assert!(config.is_none());
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

const COMMON: &[Property] = &[
    Property { key: "type", ..Property::NEW },
    Property { key: "channel", ..Property::NEW },
    Property { key: "selector.", prefix: true, ..Property::NEW },
];

#[test]
fn defaults_are_read_by_the_same_parser() {
    let config = good(&[("type", "http"), ("selector.mapping.x", "c1")]);
    assert_eq!(config.endpoint.host(), "h");
    assert_eq!(config.connect_timeout, Millis(5000));
    assert_eq!((config.batch.get(), config.tries, config.headers, config.pin), (100, 3, false, 0));
    assert!(config.password.is_none() && config.proxy_port.is_none() && config.backoff.is_empty());
    assert!(config.hosts.is_empty() && config.names.is_empty());
    assert!(config.serializer.append_newline && !config.tls.ssl);
}

#[test]
fn all_kinds_of_fields_are_read() {
    let config = good(&[
        ("connectTimeout", " +20 "),
        ("hdfs.batchSize", "7"),
        ("headers", "TRUE"),
        ("password", "hunter2"),
        ("proxyPort", "8080"),
        ("backoff.503", "true"),
        ("backoff.504", "false"),
        ("hosts", "h1:1, h2:2"),
        ("names", " n1\tn2  n3 "),
        ("serializer.appendNewline", "false"),
        ("ssl", "true"),
        ("handler.x.y", "z"),
    ]);
    assert_eq!(config.handler.full_key("x.y"), "a.sinks.k.handler.x.y");
    assert_eq!(config.handler.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["x.y"]);
    assert_eq!(config.handler.text("x.y"), Some("z"));
    assert_eq!(format!("{:?}", config.handler.get("x.y").unwrap()), "*** (flume.conf:13)");
    assert_eq!((config.connect_timeout, config.batch.get(), config.headers), (Millis(20), 7, true));
    assert_eq!(config.password.as_ref().unwrap().reveal(), "hunter2");
    assert_eq!(config.proxy_port, Some(Port(8080)));
    assert_eq!(config.backoff, BTreeMap::from([(503, true), (504, false)]));
    assert_eq!(config.hosts.0, ["h1:1", "h2:2"]);
    assert_eq!(config.names.0, ["n1", "n2", "n3"]);
    assert!(!config.serializer.append_newline && config.tls.ssl);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn every_problem_is_told_at_once_in_the_order_of_the_file() {
    let (config, problems) = http(&[
        ("type", "http"),
        ("endpont", "http://h/"),
        ("connectTimeout", "soon"),
        ("backoff.never", "true"),
        ("serializer.appendNewLine", "true"),
    ]);
    assert!(config.is_none());
    assert_eq!(
        problems,
        [
            "error flume.conf:1: a.sinks.k.endpoint: is required",
            "warning flume.conf:2: a.sinks.k.endpont: unknown property; did you mean `endpoint`?",
            "error flume.conf:3: a.sinks.k.connectTimeout: `soon` is not milliseconds: expected a whole number",
            "error flume.conf:4: a.sinks.k.backoff.never: `never` is not a whole number: expected a whole number",
            "warning flume.conf:5: a.sinks.k.serializer.appendNewLine: unknown property; \
             did you mean `serializer.appendNewline`?",
        ]
    );
}

#[test]
fn an_alias_is_as_good_and_an_old_spelling_is_noted() {
    assert_eq!(good(&[("connect-timeout", "1")]).connect_timeout, Millis(1));
    let (config, problem) = warned(&[("timeout", "2")]);
    assert_eq!(config.connect_timeout, Millis(2));
    assert_eq!(problem, "info flume.conf:2: a.sinks.k.timeout: is an old spelling; write `connectTimeout`");
    let (config, problem) = warned(&[("connect-timeout", "1"), ("connectTimeout", "3")]);
    assert_eq!(config.connect_timeout, Millis(3));
    assert_eq!(
        problem,
        "warning flume.conf:2: a.sinks.k.connect-timeout: is ignored, as `connectTimeout` is set too"
    );
}

#[test]
fn a_bad_value_is_replaced_by_the_default_only_where_java_does_so() {
    for bad in ["0", "-5", "many"] {
        let (config, problem) = warned(&[("hdfs.batchSize", bad)]);
        assert_eq!(config.batch.get(), 100);
        assert!(problem.starts_with("warning flume.conf:2: a.sinks.k.hdfs.batchSize: `"), "{problem}");
        assert!(problem.ends_with("; the default `100` is used"), "{problem}");
    }
    assert_eq!(
        refused(&[("proxyPort", "0")]),
        "error flume.conf:2: a.sinks.k.proxyPort: `0` is not a port: expected a number from 1 to 65535"
    );
}

#[test]
fn limits_are_checked() {
    assert_eq!(good(&[("tries", "10")]).tries, 10);
    assert_eq!(refused(&[("tries", "0")]), "error flume.conf:2: a.sinks.k.tries: `0` is below 1");
    assert_eq!(refused(&[("tries", "11")]), "error flume.conf:2: a.sinks.k.tries: `11` is above 10");
}

#[test]
fn careless_values_are_understood_with_a_warning() {
    let (config, problem) = warned(&[("connectTimeout", "128 # a while")]);
    assert_eq!(config.connect_timeout, Millis(128));
    assert_eq!(
        problem,
        "warning flume.conf:2: a.sinks.k.connectTimeout: `128 # a while` is read as `128`; write milliseconds"
    );
    assert!(warned(&[("headers", "true # on")]).0.headers);
    let (config, problem) = warned(&[("headers", "yes")]);
    assert!(!config.headers, "as Java");
    assert!(problem.contains("`yes` is read as `false`; write `true` or `false`"), "{problem}");
    assert_eq!(warned(&[("hosts", "h1, h2,")]).0.hosts.0, ["h1", "h2"]);
    let (config, problem) = warned(&[("names", "n1, n2,n3 # all")]);
    assert_eq!(config.names.0, ["n1", "n2", "n3"]);
    assert!(problem.contains("is read as `n1 n2 n3`"), "{problem}");
}

#[test]
fn keys_without_effect_are_noted_and_those_that_matter_refused() {
    let (_, problem) = warned(&[("maxIoWorkers", "8")]);
    assert_eq!(
        problem,
        "info flume.conf:2: a.sinks.k.maxIoWorkers: has no effect here: threads are shared by all components"
    );
    let (_, problem) = warned(&[("jmx.port", "8")]);
    assert_eq!(problem, "info flume.conf:2: a.sinks.k.jmx.port: has no effect here: there is no JVM");
    assert_eq!(
        refused(&[("kerberosPrincipal", "p")]),
        "error flume.conf:2: a.sinks.k.kerberosPrincipal: is not supported; use `basicAuth`"
    );
    good(&[("anonymous", "False")]);
    refused(&[("anonymous", "true")]);
}

#[test]
fn secrets_are_never_printed() {
    let problem = refused(&[("pin", "s3cret")]);
    assert_eq!(problem, "error flume.conf:2: a.sinks.k.pin: `***` is not a whole number");
    let (_, problem) = warned(&[("pin", "1234 # do not tell")]);
    assert!(!problem.contains("1234") && !problem.contains("tell"), "{problem}");
    let (_, problem) = warned(&[("pasword", "hunter2")]);
    assert_eq!(
        problem,
        "warning flume.conf:2: a.sinks.k.pasword: unknown property; did you mean `password`?"
    );
    let (_, problems) = http(&[("endpoint", "http:/user:hunter2@h")]);
    assert_eq!(
        problems,
        ["error flume.conf:1: a.sinks.k.endpoint: `***@h` is not a URL: expected `scheme://host`"]
    );
    let config = http(&[("endpoint", "https://user:hunter2@h:8443?q=1#x")]).0.unwrap();
    assert_eq!(format!("{0} {0:?}", config.endpoint).matches("https://***@h:8443/?q=1#x").count(), 2);
    assert_eq!(config.endpoint.user_info(), Some("user:hunter2"));
    assert_eq!((config.endpoint.port(), config.endpoint.path()), (Some(8443), "/?q=1"));
}

#[test]
fn a_message_repeats_a_long_or_broken_value_only_in_part() {
    let long = format!("x\n{}", "y".repeat(100_000));
    let problem = refused(&[("tries", &long)]);
    assert!(problem.len() < 300 && !problem.contains('\n'), "{problem}");
}

#[test]
fn the_table_says_what_the_struct_says() {
    let all = flat(HttpConfig::PROPERTIES);
    let get = |wanted: &str| all.iter().find(|(key, _)| key == wanted).unwrap().1;
    let timeout = get("connectTimeout");
    assert_eq!(timeout.doc, "How long to wait for a connection.\n\nTwo paragraphs.");
    assert_eq!((timeout.kind, timeout.default, timeout.required), ("milliseconds", Some("5000"), false));
    assert_eq!((timeout.aliases, timeout.deprecated), (&["connect-timeout"][..], &["timeout"][..]));
    assert!(get("endpoint").required && !get("proxyPort").required);
    assert!(get("password").secret && get("pin").secret && !get("tries").secret);
    assert!(get("backoff.").prefix && get("hdfs.batchSize").default_if_bad);
    assert_eq!((get("tries").min, get("tries").max), (Some("1"), Some("10")));
    assert_eq!(get("serializer.appendNewline").default, Some("true"));
    assert_eq!(get("ssl").kind, "`true` or `false`");
    assert!(matches!(get("maxIoWorkers").effect, Effect::Ignored { .. }));
    assert!(flat(Nothing::PROPERTIES).is_empty());
}

#[test]
fn a_key_that_somebody_read_or_knows_is_not_unknown() {
    let settings =
        Settings::from_pairs("a.sources.r", &[("kafka.x", "1"), ("typo", "2"), ("serializer.y", "3")]);
    let mut view = View::new(&settings);
    assert_eq!(view.get("kafka.x"), Some("1"));
    assert_eq!(view.within("serializer.", |view| view.get("y")), Some("3"));
    assert_eq!(view.within("serializer.", |view| view.full_key("y")), "a.sources.r.serializer.y");
    let unknown = view.unknown(&[COMMON]);
    assert_eq!(unknown.len(), 1);
    assert_eq!(unknown[0].key, "a.sources.r.typo");
    view.warn("typo", "is odd");
    assert_eq!(view.into_problems()[0].to_string(), "flume.conf:2: a.sources.r.typo: is odd");
}

#[test]
fn settings_are_equal_where_their_values_are() {
    let mut moved = Settings::new("a.sinks.k");
    moved.set("port", "1", None);
    let same = Settings::from_pairs("a.sinks.k.", &[("port", "1")]);
    assert_eq!(moved, same);
    assert_ne!(moved, Settings::from_pairs("a.sinks.k", &[("port", "2")]));
    assert_eq!(same.below("po").count(), 1);
}

#[test]
fn problems_without_a_place_come_first() {
    let mut problems = vec![
        Problem::new(Severity::Error, "b", None, "is bad").with_cure("remove it"),
        Problem::new(Severity::Info, "a", None, "is fine"),
    ];
    flumen_core::config::sort_problems(&mut problems);
    assert_eq!(problems[0].to_string(), "a: is fine");
    assert_eq!(problems[1].to_string(), "b: is bad; remove it");
}

/// As the classes of Java that components read their settings with.
#[test]
fn cfg_49_values_have_types_absent_keys_have_none_and_parts_drop_their_prefix() {
    let pairs = [
        ("text", "x y"),
        ("yes", "TRUE"),
        ("int", "-7"),
        ("long", "9999999999"),
        ("my.a", "1"),
        ("my.b.c", "2"),
    ];
    let mut settings = Settings::from_pairs("a.sinks.k", &pairs);
    let mut view = View::new(&settings);
    let property = |key: &'static str| Property { key, ..Property::NEW };
    assert_eq!(view.optional::<String>(&property("text")), Some(Some("x y".to_owned())));
    assert_eq!(view.optional::<bool>(&property("yes")), Some(Some(true)));
    assert_eq!(view.optional::<i32>(&property("int")), Some(Some(-7)));
    assert_eq!(view.optional::<i64>(&property("long")), Some(Some(9_999_999_999)));
    assert_eq!(view.optional::<f64>(&property("int")), Some(Some(-7.0)));
    assert_eq!(view.optional::<i32>(&property("gone")), Some(None));
    let with_default = Property { default: Some("5"), ..property("gone") };
    assert_eq!(view.value::<i32>(&with_default), Some(5));
    assert_eq!(view.problems(), []);
    let part = settings.part("my.");
    let shown: Vec<_> = part.iter().map(|(key, setting)| format!("{key}={}", setting.value)).collect();
    assert_eq!(
        (shown, part.full_key("a")),
        (vec!["a=1".to_owned(), "b.c=2".to_owned()], "a.sinks.k.my.a".to_owned())
    );
    let keys: Vec<String> = settings.iter().map(|(key, _)| key.to_owned()).collect();
    keys.iter().for_each(|key| _ = settings.remove(key));
    assert!(settings.is_empty());
}

#[test]
fn numbers_are_read_as_java_reads_them() {
    assert_eq!(i32::parse(" -2147483648 "), Ok(i32::MIN));
    assert_eq!(u32::parse("+007"), Ok(7));
    for bad in ["", " ", "+", "--1", "1.0", "0x10", "1_000", "1 2", "１"] {
        assert!(i64::parse(bad).is_err(), "{bad}");
    }
    assert!(u16::parse("65536").is_err() && u32::parse("-1").is_err());
    assert!(i64::parse(&"9".repeat(10_000)).is_err());
    assert_eq!(f64::parse("0.5f"), Ok(0.5));
    for bad in ["inf", "NaN", "1e999", "", "."] {
        assert!(f64::parse(bad).is_err(), "{bad}");
    }
    assert_eq!(u32::forgive("128# MB"), None, "a remark begins behind a blank");
    assert_eq!(Millis(u64::MAX).duration().as_secs(), 100 * 365 * 24 * 60 * 60);
}

#[test]
fn urls_are_taken_apart() {
    let url = Url::parse("http://[::1]:80").unwrap();
    assert_eq!((url.scheme(), url.host(), url.port(), url.path()), ("http", "::1", Some(80), "/"));
    assert_eq!(url.user_info(), None);
    for bad in ["", "h", "http://", "http://:80", "http://h:99999", "1://h", "http://h h", "http://[::1]x"] {
        assert!(Url::parse(bad).is_err(), "{bad}");
    }
}

proptest::proptest! {
    #[test]
    fn any_keys_and_values_give_problems_and_never_a_panic(
        keys in proptest::collection::vec("[a-zA-Z.:/@é-]{0,12}", 0..4),
        value in "\\PC{0,20}|[a-z]{1,3}://[\\[\\]:@/?#a1é]{0,12}|[-+0-9 #,;/]{0,12}",
    ) {
        const KEYS: [&str; 7] = ["endpoint", "connectTimeout", "headers", "pin", "hosts", "names", "backoff.1"];
        let pairs = keys.iter().map(String::as_str).chain(KEYS).map(|key| (key, value.as_str()));
        let (config, problems) = http(&pairs.collect::<Vec<_>>());
        let errors = problems.iter().any(|problem| problem.starts_with("error"));
        proptest::prop_assert_eq!(config.is_none(), errors);
        let shown = config.map(|config| config.endpoint.to_string());
        proptest::prop_assert!(shown.is_none_or(|shown| !shown.contains('@') || shown.contains("***@")));
    }
}
