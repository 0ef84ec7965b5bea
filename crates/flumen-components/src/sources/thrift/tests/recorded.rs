//! What a Java client has sent is stored as by Java's source, and answered with the same bytes.

use super::*;
use crate::testing::{RecordedEvent, fixture, json_lines};
use flumen_core::intercept::{InterceptError, Interceptor};
use std::fs;

/// Refuses the first batches, as an interceptor that throws, and drops the events that say so.
#[derive(Debug)]
struct Throwing(std::sync::atomic::AtomicU32);

impl Interceptor for Throwing {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.retain(|event| event.headers.get("drop").is_none());
        let left = &self.0;
        let refuses = left
            .fetch_update(std::sync::atomic::Ordering::Relaxed, std::sync::atomic::Ordering::Relaxed, |n| {
                n.checked_sub(1)
            })
            .is_ok();
        if refuses {
            Err(InterceptError { interceptor: "i".into(), reason: "refused".into() })
        } else {
            Ok(())
        }
    }
}

async fn replay(protocol: &str, scenario: &str) {
    let name = format!("rpc/thrift-{protocol}-{scenario}");
    let capacity = if scenario == "full" { 5 } else { 10_000 };
    let limits = flumen_core::channel::ChannelLimits {
        capacity,
        transaction_capacity: 1_000,
        byte_slots: None,
        keep_alive: Duration::from_millis(20),
    };
    let channel = Arc::new(ScriptedChannel::with_limits("c", limits));
    let throwing = Throwing((if scenario == "interceptor-error" { 2 } else { 0 }).into());
    let mut source =
        ThriftSource::build(config(&[("protocol", protocol)]).0.unwrap(), &source_context()).unwrap();
    let out = ChannelProcessor::new(
        vec![Arc::new(throwing)],
        Arc::new(Everywhere(1)),
        vec![channel.clone()],
        &[0],
        Arc::default(),
    );
    let (stop, shutdown) = Shutdown::new();
    let mut address = source.address();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { source.run(out, shutdown).await });
    let address = timeout(LIMIT, address.wait_for(Option::is_some)).await.unwrap().unwrap().unwrap();
    let mut files: Vec<_> =
        fs::read_dir(fixture(&name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with("c2s.bin"));
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&fs::read(&file).unwrap()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answers = Vec::new();
        timeout(LIMIT, stream.read_to_end(&mut answers)).await.expect("answers and an end").unwrap();
        let wanted = fs::read(file.to_str().unwrap().replace("c2s.bin", "s2c.bin")).unwrap();
        assert_eq!(answers, wanted, "{name}");
    }
    let mut wanted = Batch::new();
    json_lines::<RecordedEvent>(&format!("{name}/expected.jsonl"))
        .iter()
        .for_each(|event| event.push(&mut wanted));
    assert_eq!(channel.contents(), wanted, "{name}");
    stop.request();
    timeout(LIMIT, tasks.join_next()).await.expect("the source stops").unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn recorded_clients_are_answered_and_their_events_stored_as_by_java() {
    for protocol in ["compact", "binary"] {
        for scenario in [
            "append",
            "batch",
            "batch-split",
            "binary-bodies",
            "full",
            "interceptor-error",
            "restarted-client",
            "unicode",
        ] {
            replay(protocol, scenario).await;
        }
    }
}
