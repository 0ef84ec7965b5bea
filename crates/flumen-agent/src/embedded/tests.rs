//! The embedded agent's properties, its states, and what it sends.

use super::*;
use crate::agent::tests::until;
use flumen_core::{
    config::{Configuration, Property, View},
    registry::{BuildError, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// An event: headers and body.
type Plain = (Vec<(String, String)>, String);

/// What the sinks of a test have got, by the `hostname` of their settings.
static STORES: Mutex<BTreeMap<String, Vec<Plain>>> = Mutex::new(BTreeMap::new());

fn stored(host: &str) -> Vec<Plain> {
    STORES.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned().unwrap_or_default()
}

struct StoreConfig {
    hostname: String,
}

impl Configuration for StoreConfig {
    const PROPERTIES: &'static [Property] = &[Property { key: "hostname", required: true, ..Property::NEW }];

    fn read(view: &mut View<'_>) -> Option<Self> {
        Some(Self { hostname: view.value(&Self::PROPERTIES[0])? })
    }
}

/// Stands for the Avro sink.
struct Store(String);

impl SinkType for Store {
    const NAMES: &'static [&'static str] = &["avro", "org.apache.flume.sink.AvroSink"];
    const SUMMARY: &'static str = "Keeps what it gets.";
    type Config = StoreConfig;

    fn build(config: StoreConfig, _context: &SinkContext) -> Result<Self, BuildError> {
        if config.hostname == "unbuildable" {
            return Err(BuildError::new("this sink cannot be built"));
        }
        Ok(Self(config.hostname))
    }
}

impl Sink for Store {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let all = stores.entry(self.0.clone()).or_default();
        for event in batch.iter() {
            let headers = event.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            all.push((headers.collect(), String::from_utf8_lossy(event.body).into_owned()));
        }
        Ok(Delivery::all(batch))
    }
}

fn agent(name: &str) -> EmbeddedAgent {
    // The first type of a name is the one that is taken: this one stands in for the real sink.
    let registry = Registry::new().sink::<Store>();
    let registry = flumen_components::register(flumen_channels::register(registry));
    EmbeddedAgent::with(name, registry, Environment::default())
}

fn properties(test: &str) -> BTreeMap<String, String> {
    let pairs = [
        ("channel.type", "memory"),
        ("channel.capacity", "200"),
        ("sinks", "k1 k2"),
        ("k1.type", "avro"),
        ("k2.type", "avro"),
        ("processor.type", "load_balance"),
    ];
    let mut properties: BTreeMap<String, String> =
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    for sink in ["k1", "k2"] {
        properties.insert(format!("{sink}.hostname"), test.to_owned());
    }
    properties
}

/// The same with some changed, and those without a value taken out.
fn changed(test: &str, changes: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut properties = properties(test);
    for (key, value) in changes {
        properties.remove(*key);
        if !value.is_empty() {
            properties.insert((*key).to_owned(), (*value).to_owned());
        }
    }
    properties
}

#[tokio::test]
async fn cfg_31_events_arrive_with_their_headers_through_interceptors_and_names_may_have_blanks() {
    let mut agent = agent("test 1 2");
    let interceptors = [
        ("source.interceptors", "i"),
        ("source.interceptors.i.type", "static"),
        ("source.interceptors.i.key", "k"),
        ("source.interceptors.i.value", "v"),
    ];
    agent.configure(changed("cfg-31", &interceptors)).unwrap();
    agent.start().await.unwrap();
    agent.put([("a", "1")].into_iter().collect(), "one").await.unwrap();
    let mut batch = Batch::new();
    batch.push(Headers::new(), "two");
    batch.push(Headers::new(), "three");
    agent.put_all(batch).await.unwrap();
    agent.put_all(Batch::new()).await.unwrap();
    until("three events", || stored("cfg-31").len() == 3).await;
    let mut all = stored("cfg-31");
    all.sort_by(|a, b| a.1.cmp(&b.1));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        all,
        [
            (vec![pair("a", "1"), pair("k", "v")], "one".to_owned()),
            (vec![pair("k", "v")], "three".to_owned()),
            (vec![pair("k", "v")], "two".to_owned()),
        ]
    );
    assert_eq!(agent.stop().await.unwrap(), StopReport::default());
}

#[test]
fn cfg_32_properties_become_those_of_an_agent() {
    let more = [("source.selector.type", "replicating"), ("processor.backoff", "true"), ("k1.port", "1")];
    let pairs: BTreeMap<String, String> =
        translate::translate("test1", changed("h", &more)).unwrap().into_iter().collect();
    let want = [
        ("test1.channels", "channel-test1"),
        ("test1.channels.channel-test1.capacity", "200"),
        ("test1.channels.channel-test1.type", "memory"),
        ("test1.sinkgroups", "sink-group-test1"),
        ("test1.sinkgroups.sink-group-test1.processor.backoff", "true"),
        ("test1.sinkgroups.sink-group-test1.processor.type", "load_balance"),
        ("test1.sinkgroups.sink-group-test1.sinks", "k1 k2"),
        ("test1.sinks", "k1 k2"),
        ("test1.sinks.k1.channel", "channel-test1"),
        ("test1.sinks.k1.hostname", "h"),
        ("test1.sinks.k1.port", "1"),
        ("test1.sinks.k1.type", "avro"),
        ("test1.sinks.k2.channel", "channel-test1"),
        ("test1.sinks.k2.hostname", "h"),
        ("test1.sinks.k2.type", "avro"),
        ("test1.sources", "source-test1"),
        ("test1.sources.source-test1.channels", "channel-test1"),
        ("test1.sources.source-test1.selector.type", "replicating"),
        ("test1.sources.source-test1.type", "embedded"),
    ];
    let got: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(got, want);
    for kind in ["EMBEDDED", "org.apache.flume.agent.embedded.EmbeddedSource"] {
        agent("test1").configure(changed("h", &[("source.type", kind)])).unwrap();
    }
}

#[test]
fn cfg_33_what_an_embedded_agent_cannot_have_is_refused_by_name() {
    for (changes, says) in [
        (&[("source.type", "seq")][..], "source.type"),
        (&[("channel.type", "jdbc")], "channel.type: an embedded agent has memory, file"),
        (&[("channel.type", "")], "channel.type: is required"),
        (&[("k1.type", "logger")], "k1.type: an embedded agent has avro"),
        (&[("k2.type", "")], "k2.type: is required"),
        (&[("sinks", "")], "sinks: is required"),
        (&[("processor.type", "")], "processor.type: is required"),
        (&[("processor.type", "mine")], "processor.type"),
        (&[("bad", "x")], "bad: unknown property"),
        (&[("k3.type", "avro")], "k3.type: unknown property"),
        (&[("sinks", "source")], "cannot be called `source`"),
        (&[("sinks", "channel")], "cannot be called `channel`"),
        (&[("sinks", "processor")], "cannot be called `processor`"),
        (&[("k1.hostname", "")], "k1.hostname"),
    ] {
        let error = agent("a").configure(changed("h", changes)).unwrap_err();
        assert!(matches!(error, EmbeddedError::Settings(_)) && error.to_string().contains(says), "{error}");
    }
    assert!(agent("a.b").configure(properties("h")).is_err());
}

#[tokio::test]
async fn cfg_34_a_part_that_cannot_start_is_told_and_the_others_are_stopped() {
    let mut agent = agent("a");
    agent.configure(changed("h", &[("k1.hostname", "unbuildable")])).unwrap();
    let error = agent.start().await.unwrap_err();
    assert!(error.to_string().contains("this sink cannot be built"), "{error}");
    assert!(agent.put(Headers::new(), "x").await.is_err());
    assert!(matches!(agent.stop().await, Err(EmbeddedError::State(_))));
    agent.configure(properties("cfg-34")).unwrap();
    agent.start().await.unwrap();
    agent.stop().await.unwrap();
}

#[tokio::test]
async fn cfg_35_nothing_is_put_before_the_start_or_after_the_stop() {
    let mut agent = agent("a");
    agent.configure(properties("cfg-35")).unwrap();
    for round in 1..=2 {
        assert!(matches!(agent.put(Headers::new(), "x").await, Err(EmbeddedError::State(_))));
        assert!(matches!(agent.put_all(Batch::new()).await, Err(EmbeddedError::State(_))));
        agent.start().await.unwrap();
        agent.put(Headers::new(), "y").await.unwrap();
        until("an event", || stored("cfg-35").len() == round).await;
        agent.stop().await.unwrap();
    }
}

#[tokio::test]
async fn cfg_36_each_state_allows_what_it_allows_in_java() {
    let mut agent = agent("a");
    let state = |result: Result<(), EmbeddedError>| assert!(matches!(result, Err(EmbeddedError::State(_))));
    state(agent.start().await);
    state(agent.stop().await.map(drop));
    agent.configure(properties("h")).unwrap();
    agent.configure(properties("h")).unwrap();
    state(agent.stop().await.map(drop));
    agent.start().await.unwrap();
    state(agent.start().await);
    state(agent.configure(properties("h")));
    agent.stop().await.unwrap();
    state(agent.stop().await.map(drop));
    agent.configure(properties("h")).unwrap();
    let bad = agent.configure(changed("h", &[("source.type", "bad")])).unwrap_err();
    assert!(matches!(bad, EmbeddedError::Settings(_)));
}
