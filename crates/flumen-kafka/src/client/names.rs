//! Java's names of client settings: which librdkafka has under the same name, which under another, and which not at all.

use super::Role;

/// What becomes of a setting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// These, by librdkafka's names.
    Native(Vec<(String, String)>),
    /// It is kept by Java's name until files are read.
    Later,
    /// It means nothing here, and nobody misses it.
    Nothing(&'static str),
    /// It is not there, and somebody may miss it.
    Told(&'static str),
    /// The client cannot do what it asks for.
    Wrong(String),
}

use Outcome::{Later, Native, Nothing, Told, Wrong};

/// Flume's own key within Java's.
pub(super) const NO_HOST_NAMES: &str = "ssl.disableTLSHostnameVerification";

/// The same setting under another name.
const RENAMED: &[(&str, &str)] = &[
    ("fetch.max.wait.ms", "fetch.wait.max.ms"),
    ("receive.buffer.bytes", "socket.receive.buffer.bytes"),
    ("send.buffer.bytes", "socket.send.buffer.bytes"),
    ("max.request.size", "message.max.bytes"),
];

/// Kept until the client is made.
const LATER: &[&str] = &[
    "sasl.jaas.config",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    NO_HOST_NAMES,
];

const JMX: &str = "it is about JMX; Flumen's own metrics show the client";
const JVM: &str = "it chooses parts of a JVM";
const CLASS: &str = "it names a Java class";
const CALLBACK: &str = "it names a Java class; what sasl.jaas.config says is done without one";
const WAITS: &str = "a batch waits in its channel as long as it takes; delivery.timeout.ms limits one try";
const TLS: &str = "TLS 1.2 and 1.3 are allowed, as the system's OpenSSL is set up";

/// Settings that librdkafka does not have.
const WITHOUT: &[(&str, Outcome)] = &[
    ("auto.include.jmx.reporter", Nothing(JMX)),
    ("metric.reporters", Nothing(JMX)),
    ("metrics.num.samples", Nothing(JMX)),
    ("metrics.recording.level", Nothing(JMX)),
    ("metrics.sample.window.ms", Nothing(JMX)),
    ("security.providers", Nothing(JVM)),
    ("ssl.provider", Nothing(JVM)),
    ("ssl.keymanager.algorithm", Nothing(JVM)),
    ("ssl.trustmanager.algorithm", Nothing(JVM)),
    ("ssl.secure.random.implementation", Nothing(JVM)),
    ("ssl.engine.factory.class", Told(CLASS)),
    ("ssl.protocol", Nothing(TLS)),
    ("ssl.enabled.protocols", Nothing(TLS)),
    ("interceptor.classes", Told("it names Java classes; Flumen's interceptors stand at the source")),
    ("sasl.login.class", Told(CALLBACK)),
    ("sasl.login.callback.handler.class", Told(CALLBACK)),
    ("sasl.client.callback.handler.class", Told(CALLBACK)),
    ("sasl.login.refresh.buffer.seconds", Nothing("tokens are fetched anew at four fifths of their time")),
    (
        "sasl.login.refresh.min.period.seconds",
        Nothing("tokens are fetched anew at four fifths of their time"),
    ),
    ("sasl.login.refresh.window.factor", Nothing("tokens are fetched anew at four fifths of their time")),
    ("sasl.login.refresh.window.jitter", Nothing("tokens are fetched anew at four fifths of their time")),
    ("sasl.kerberos.ticket.renew.jitter", Nothing("sasl.kerberos.kinit.cmd renews tickets")),
    ("sasl.kerberos.ticket.renew.window.factor", Nothing("sasl.kerberos.kinit.cmd renews tickets")),
    ("max.block.ms", Nothing(WAITS)),
    ("default.api.timeout.ms", Nothing("each request has the limit of request.timeout.ms")),
    (
        "partitioner.adaptive.partitioning.enable",
        Nothing("events without a key go where sticky.partitioning.linger.ms says"),
    ),
    (
        "partitioner.availability.timeout.ms",
        Nothing("events without a key go where sticky.partitioning.linger.ms says"),
    ),
    ("partitioner.ignore.keys", Told("a key always chooses the partition: leave the key header out instead")),
    ("max.poll.records", Nothing("batches are as large as batchSize says")),
    (
        "exclude.internal.topics",
        Nothing("a pattern is matched with all topics that the login may see: let it begin with ^[^_]"),
    ),
    ("internal.leave.group.on.close", Nothing("a member that stops always leaves its group")),
    ("transactional.id", Told("Flume 1.11 does not read it either; without it the producer is idempotent")),
    ("enable.auto.commit", Nothing("Flume commits offsets itself: always false")),
    ("group.id", Nothing("it is set by kafka.consumer.group.id or groupId")),
    ("bootstrap.servers", Nothing("kafka.bootstrap.servers is what counts")),
];

pub(super) fn translate(role: Role, key: &str, value: &str) -> Outcome {
    let same = |name: &str, value: &str| Native(vec![(name.to_owned(), value.to_owned())]);
    if LATER.contains(&key) {
        return Later;
    }
    if let Some((_, name)) = RENAMED.iter().find(|(java, _)| *java == key) {
        return same(name, value);
    }
    if let Some((_, outcome)) = WITHOUT.iter().find(|(java, _)| *java == key) {
        return match outcome {
            Nothing(why) => Nothing(why),
            Told(why) => Told(why),
            _ => Nothing(JMX),
        };
    }
    match key {
        "security.protocol" => same(key, &value.to_ascii_lowercase()),
        "sasl.mechanism" => same("sasl.mechanisms", value),
        "acks" => same(key, if value.eq_ignore_ascii_case("all") { "-1" } else { value }),
        "auto.offset.reset" if value.eq_ignore_ascii_case("none") => same(key, "error"),
        "isolation.level" | "group.protocol" | "compression.type" => same(key, &value.to_ascii_lowercase()),
        "buffer.memory" => kilobytes(value),
        "request.timeout.ms" if role == Role::Consumer => same("socket.timeout.ms", value),
        "ssl.endpoint.identification.algorithm" => {
            let lower = value.to_ascii_lowercase();
            same(key, if lower.is_empty() { "none" } else { &lower })
        }
        "ssl.cipher.suites" => cipher_suites(value),
        "partitioner.class" => partitioner(value),
        "partition.assignment.strategy" => strategies(value),
        "key.serializer" | "value.serializer" | "key.deserializer" | "value.deserializer" => {
            serializer(value)
        }
        _ => same(key, value),
    }
}

fn kilobytes(value: &str) -> Outcome {
    match value.parse::<u64>() {
        Ok(bytes) => Native(vec![(
            "queue.buffering.max.kbytes".to_owned(),
            (bytes / 1024).clamp(1, i32::MAX as u64).to_string(),
        )]),
        Err(_) => Wrong("is not a number of bytes".to_owned()),
    }
}

/// The last part of a class name.
fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn serializer(value: &str) -> Outcome {
    match simple(value) {
        "StringSerializer"
        | "ByteArraySerializer"
        | "StringDeserializer"
        | "ByteArrayDeserializer"
        | "BytesSerializer"
        | "BytesDeserializer"
        | "ByteBufferSerializer"
        | "ByteBufferDeserializer" => Nothing("keys are text and values are bytes, as Flume has them"),
        _ => Told("it names a Java class; keys are text and values are bytes"),
    }
}

fn partitioner(value: &str) -> Outcome {
    let native = match simple(value) {
        // The same partition for the same key as in Java; without a key any.
        "DefaultPartitioner" | "UniformStickyPartitioner" => "murmur2_random",
        _ => {
            return Told("it names a Java class; keys go to the partitions of Java's default, others to any");
        }
    };
    Native(vec![("partitioner".to_owned(), native.to_owned())])
}

fn strategies(value: &str) -> Outcome {
    let mut names = Vec::new();
    for class in value.split(',').map(str::trim).filter(|class| !class.is_empty()) {
        let name = match simple(class) {
            "RangeAssignor" | "range" => "range",
            "RoundRobinAssignor" | "roundrobin" => "roundrobin",
            "CooperativeStickyAssignor" | "cooperative-sticky" => "cooperative-sticky",
            // Java's old sticky one has a protocol of its own that nobody else speaks.
            "StickyAssignor" => return Wrong(only(class)),
            _ => return Wrong(only(class)),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > 1 && names.contains(&"cooperative-sticky") {
        // The library refuses to mix the two ways; the first one is what the group prefers.
        names.truncate(1);
    }
    Native(vec![("partition.assignment.strategy".to_owned(), names.join(","))])
}

fn only(class: &str) -> String {
    format!(
        "`{class}` is not there: there are RangeAssignor, RoundRobinAssignor and CooperativeStickyAssignor"
    )
}

/// Java's names of suites into OpenSSL's. Those of TLS 1.3 are always allowed and cannot be listed here.
fn cipher_suites(value: &str) -> Outcome {
    let suites = value.split(',').map(str::trim).filter(|suite| !suite.is_empty());
    let names: Vec<String> = suites.filter(|suite| suite.contains("_WITH_")).map(cipher_suite).collect();
    if names.is_empty() {
        return Nothing("suites of TLS 1.3 are always allowed");
    }
    Native(vec![("ssl.cipher.suites".to_owned(), names.join(":"))])
}

fn cipher_suite(java: &str) -> String {
    let name = java.trim_start_matches("TLS_").trim_start_matches("SSL_");
    let (exchange, cipher) = name.split_once("_WITH_").unwrap_or(("", name));
    let exchange = if exchange == "RSA" { String::new() } else { format!("{}-", exchange.replace('_', "-")) };
    let cipher = cipher
        .replace("AES_", "AES")
        .replace("_CBC", "")
        .replace('_', "-")
        .replace("CHACHA20-POLY1305-SHA256", "CHACHA20-POLY1305");
    format!("{exchange}{cipher}")
}
