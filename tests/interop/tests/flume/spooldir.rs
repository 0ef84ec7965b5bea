//! One directory, read by Java Flume's spooldir source and by ours in turns: each goes on where the other has stopped.

use crate::{
    clients::{printed, tool_of},
    collector::context,
    wait::{LIMIT, until},
};
use flumen_core::{
    channel::{Channel, ChannelLimits},
    config::Settings,
    metrics::SourceMetrics,
    processor::ChannelProcessor,
    registry::SourceContext,
    source::Shutdown,
    testing::{Everywhere, ScriptedChannel},
};
use interop::missing;
use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::timeout;

const BATCH: usize = 50;

/// Reads until so many events are stored, with a channel that has no room for more, and stops.
async fn ours(directory: &Path, pairs: &[(&str, &str)], n_events: usize) -> Vec<String> {
    let registry = Arc::new(flumen_agent::registry());
    let entry = registry.find_source("spooldir").unwrap();
    let metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", &registry), metrics: metrics.clone() };
    let path = directory.display().to_string();
    let mut all = vec![("spoolDir", path.as_str())];
    all.extend_from_slice(pairs);
    let mut source = (entry.build)(&Settings::from_pairs("a.sources.r", &all), &source_context).unwrap();
    let limits = ChannelLimits {
        capacity: n_events as u64,
        transaction_capacity: 1_000,
        byte_slots: None,
        keep_alive: Duration::ZERO,
    };
    let stored = Arc::new(ScriptedChannel::with_limits("c", limits));
    let out = ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), vec![stored.clone()], &[0], metrics);
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        until("the events", || stored.depth().queued == n_events as u64).await;
        stop.request();
    };
    let (end, ()) = tokio::join!(timeout(LIMIT, source.run(out, shutdown)), work);
    end.expect("it stops").unwrap();
    stored.contents().iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap()).collect()
}

async fn javas(how: &str, directory: &Path, pairs: &[(&str, &str)], n_events: usize) -> Vec<String> {
    let mut words =
        vec!["SpoolTool".to_owned(), how.to_owned(), directory.display().to_string(), n_events.to_string()];
    for (key, value) in pairs {
        words.extend(["--prop".to_owned(), format!("{key}={value}")]);
    }
    let batch = printed(tool_of(&words), "Java's source").await;
    batch.iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap()).collect()
}

fn lines(name: &str, n_lines: usize) -> Vec<String> {
    (0..n_lines).map(|n| format!("{name} {n} žluťoučký 🚀")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_goes_on_in_a_spool_directory_where_the_other_has_stopped() {
    if missing() {
        return;
    }
    for tracking in ["rename", "tracker_dir"] {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("in");
        fs::create_dir(&directory).unwrap();
        let mut expected = Vec::new();
        for name in ["a", "b"] {
            let lines = lines(name, 500);
            fs::write(directory.join(name), lines.join("\n") + "\n").unwrap();
            expected.extend(lines);
            // The times of files are their order.
            let file = fs::File::options().append(true).open(directory.join(name)).unwrap();
            let second = Duration::from_secs(1_600_000_000 + u64::from(name == "b"));
            file.set_modified(SystemTime::UNIX_EPOCH + second).unwrap();
        }
        let batch = BATCH.to_string();
        let pairs = [("trackingPolicy", tracking), ("batchSize", batch.as_str()), ("pollDelay", "50")];
        let mut all = javas("kill", &directory, &pairs, 200).await;
        all.extend(ours(&directory, &pairs, 150).await);
        // Within the second file.
        all.extend(javas("stop", &directory, &pairs, 300).await);
        all.extend(ours(&directory, &pairs, 350).await);
        assert_eq!(all.len(), expected.len(), "{tracking}");
        assert_eq!(all, expected, "{tracking}: each line once, in order");
        // Neither has anything to do any more.
        fs::write(directory.join("c"), "last\n").unwrap();
        assert_eq!(javas("stop", &directory, &pairs, 1).await, ["last"], "{tracking}");
        fs::write(directory.join("d"), "very last\n").unwrap();
        assert_eq!(ours(&directory, &pairs, 1).await, ["very last"], "{tracking}");
        let done = if tracking == "rename" { directory.clone() } else { directory.join(".flumespool") };
        for name in ["a", "b", "c"] {
            assert!(done.join(format!("{name}.COMPLETED")).exists(), "{tracking}: {name}");
        }
    }
}
