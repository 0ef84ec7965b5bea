//! The sink, from a source of numbers: order, TLS, logins, sizes, kills of agent and broker.

use crate::{agent::Agent, broker::Broker, wait::until};
use interop::missing;
use std::collections::BTreeSet;

/// An agent that sends `n` numbers to a topic.
fn flow(servers: &str, topic: &str, n: u64, channel: &str, more: &[(&str, &str)]) -> String {
    let channel = match channel {
        "file" => {
            "a.channels.c.type = file\na.channels.c.capacity = 1000000\na.channels.c.checkpointDir = @DIR@/c\n\
                   a.channels.c.dataDirs = @DIR@/d\n"
        }
        _ => "a.channels.c.type = memory\na.channels.c.capacity = 10000\n",
    };
    let more: String = more.iter().map(|(key, value)| format!("a.sinks.k.{key} = {value}\n")).collect();
    format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = {n}\n\
         a.sources.r.channels = c\n{channel}a.sinks.k.type = org.apache.flume.sink.kafka.KafkaSink\na.sinks.k.channel = c\n\
         a.sinks.k.kafka.bootstrap.servers = {servers}\na.sinks.k.kafka.topic = {topic}\n{more}"
    )
}

async fn arrives(broker: &Broker, topic: &str, n: i64, agent: &Agent) {
    let mut log = String::new();
    until(topic, || {
        log = agent.log();
        broker.count(topic, 1) >= n
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_arrive_once_and_in_order() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    let agent = Agent::start(dir.path(), &flow(&broker.address(0), "order", 20_000, "memory", &[]));
    arrives(&broker, "order", 20_000, &agent).await;
    let texts: Vec<String> = broker.records("order", 1).iter().map(|record| record.text()).collect();
    let expected: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    assert!(texts == expected, "{} records; {}", texts.len(), agent.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn kss_39_tls_with_a_trust_store_and_without_host_names() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    let store = broker.dir.path().join("trust.jks").display().to_string();
    let mut tls = vec![
        ("kafka.producer.security.protocol", "SSL"),
        ("kafka.producer.ssl.truststore.location", &*store),
        ("kafka.producer.ssl.truststore.password", "changeit"),
        // The names of hosts are checked as by default, and the broker is addressed by its number.
    ];
    let refused = Agent::start(&dir.path().join("1"), &flow(&broker.address(1), "tls", 5, "memory", &tls));
    until("a certificate that is refused", || refused.log().contains("TLS failed")).await;
    assert_eq!(broker.count("tls", 1), 0);
    tls.push(("kafka.producer.ssl.disableTLSHostnameVerification", "true"));
    let agent = Agent::start(&dir.path().join("2"), &flow(&broker.address(1), "tls", 5, "memory", &tls));
    arrives(&broker, "tls", 5, &agent).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_by_jaas_texts_work_and_a_refused_one_is_told() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    for (mechanism, module) in
        [("PLAIN", "plain.PlainLoginModule"), ("SCRAM-SHA-256", "scram.ScramLoginModule")]
    {
        let topic = format!("login-{mechanism}");
        let jaas = |password: &str| {
            format!(
                "org.apache.kafka.common.security.{module} required username=\"alice\" password=\"{password}\";"
            )
        };
        let (good, bad) = (jaas("alice-secret"), jaas("wrong-secret"));
        let with = |jaas: &str| {
            let pairs = [
                ("kafka.producer.security.protocol", "SASL_PLAINTEXT"),
                ("kafka.producer.sasl.mechanism", mechanism),
                ("kafka.producer.sasl.jaas.config", jaas),
            ];
            flow(&broker.address(2), &topic, 5, "memory", &pairs)
        };
        let refused = Agent::start(&dir.path().join(format!("{mechanism}1")), &with(&bad));
        until("a login that is refused", || refused.log().contains("the login is refused")).await;
        let agent = Agent::start(&dir.path().join(format!("{mechanism}2")), &with(&good));
        arrives(&broker, &topic, 5, &agent).await;
        for log in [refused.log(), agent.log()] {
            assert!(!log.contains("-secret"), "a password is in the log: {log}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_topic_finds_too_large_is_discarded_and_the_rest_of_its_batch_arrives() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::shared(), tempfile::tempdir().unwrap());
    // A batch of a hundred numbers is larger than the topic takes at once; each by itself is not.
    broker.topic("small", 1, &[("max.message.bytes", "200")]).await;
    let agent = Agent::start(
        dir.path(),
        &flow(&broker.address(0), "small", 150, "memory", &[("useFlumeEventFormat", "true")]),
    );
    arrives(&broker, "small", 150, &agent).await;
    let values: BTreeSet<Vec<u8>> =
        broker.records("small", 1).into_iter().map(|record| record.value).collect();
    assert_eq!(values.len(), 150, "{}", agent.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_agent_and_broker_lose_nothing() {
    if missing() {
        return;
    }
    let (broker, dir) = (Broker::start(), tempfile::tempdir().unwrap());
    let n = 60_000;
    let slow = [("flumeBatchSize", "20"), ("kafka.producer.delivery.timeout.ms", "5000")];
    let mut agent = Agent::start(dir.path(), &flow(&broker.address(0), "kills", n, "file", &slow));
    // The source begins anew with each start: what counts is that the channel's events all arrive.
    for round in 1..4 {
        let before = broker.count("kills", 1);
        until("some that have arrived", || broker.count("kills", 1) > before || before >= n as i64).await;
        match round {
            2 => broker.kill_and_start(),
            _ => agent.kill_and_start(),
        }
    }
    let mut numbers = BTreeSet::new();
    until("all numbers", || {
        if broker.count("kills", 1) >= n as i64 {
            numbers = broker
                .records("kills", 1)
                .iter()
                .map(|record| record.text().parse::<u64>().unwrap())
                .collect();
        }
        numbers.len() as u64 == n
    })
    .await;
}
