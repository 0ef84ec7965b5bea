//! Names are found in any case, and what is absent is never called unknown.

use super::*;
use crate::{
    config::{Configuration, Settings, View},
    metrics::SourceMetrics,
    processor::ChannelProcessor,
    source::{PollSource, Polled, Shutdown, SourceError},
    testing::Everywhere,
    world::SetClock,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

#[test]
fn an_empty_registry_knows_what_is_absent() {
    let absent =
        Absent { kind: Kind::Sink, names: &["hive", "org.example.Hive"], instead: "use the hdfs sink" };
    let registry = Registry::new().absent(&[absent]);
    assert_eq!(
        registry.find_absent(Kind::Sink, "HIVE").map(|found| found.instead),
        Some("use the hdfs sink")
    );
    assert!(registry.find_absent(Kind::Source, "hive").is_none());
    assert!(registry.find_sink("hive").is_none());
}

#[test]
fn what_is_there_after_all_is_not_listed_as_absent() {
    let absent = |names| Absent { kind: Kind::ConfigFilter, names, instead: "use another build" };
    let filter = EntryInfo {
        kind: Kind::ConfigFilter,
        names: &["vault", "org.example.Vault"],
        summary: "Asks a vault.",
        properties: &[],
        common: &[],
        implementation: "Vault",
    };
    let types = [absent(&["org.example.Vault", "vault"]), absent(&["other"])];
    let registry = Registry::new().absent(&types).config_filter(filter);
    let left: Vec<_> = registry.absent_of(Kind::ConfigFilter).map(|absent| absent.names[0]).collect();
    assert_eq!(left, ["other"]);
}

/// Never has anything, and remembers when it was asked.
struct Dry(Arc<Mutex<Vec<Instant>>>);

impl PollSource for Dry {
    async fn poll(&mut self, _out: &ChannelProcessor) -> Result<Polled, SourceError> {
        self.0.lock().unwrap().push(Instant::now());
        Ok(Polled::Backoff)
    }
}

struct DryConfig;

impl Configuration for DryConfig {
    const PROPERTIES: &'static [crate::config::Property] = &[];

    fn read(_view: &mut View<'_>) -> Option<Self> {
        Some(Self)
    }
}

thread_local! {
    static ASKED: Arc<Mutex<Vec<Instant>>> = Arc::default();
}

impl PollSourceType for Dry {
    const NAMES: &'static [&'static str] = &["dry"];
    const SUMMARY: &'static str = "Has nothing.";
    type Config = DryConfig;

    fn build(_config: DryConfig, _context: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self(ASKED.with(Arc::clone)))
    }
}

/// The pauses between polls that bring nothing, in milliseconds, with these settings.
async fn pauses(pairs: &[(&str, &str)], seconds: u64) -> Vec<u128> {
    let registry = Registry::new().poll_source::<Dry>();
    let entry = registry.find_source("dry").unwrap();
    let common = BuildContext {
        agent: "a".into(),
        name: "r".into(),
        clock: Arc::new(SetClock::default()),
        seed: 0,
        environment: Arc::new(Environment::default()),
        registry: Arc::new(Registry::new()),
        extra: ExtraMetrics::default(),
    };
    let context = SourceContext { common, metrics: Arc::new(SourceMetrics::default()) };
    let mut source = (entry.build)(&Settings::from_pairs("a.sources.r", pairs), &context).unwrap();
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(0)), Vec::new(), &[], Arc::default());
    let (stop, shutdown) = Shutdown::new();
    let later = async {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(source.run(out, shutdown), later);
    end.unwrap();
    let asked = std::mem::take(&mut *ASKED.with(Arc::clone).lock().unwrap());
    asked.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn cfg_41_a_source_with_nothing_to_bring_is_asked_after_pauses_that_grow_to_a_limit() {
    assert_eq!(pauses(&[], 30).await[..7], [1000, 2000, 3000, 4000, 5000, 5000, 5000]);
    let own = pauses(&[("backoffSleepIncrement", "42"), ("maxBackoffSleep", "4242")], 300).await;
    assert_eq!(own[..3], [42, 84, 126]);
    assert_eq!(own[99..103], [4200, 4242, 4242, 4242]);
}
