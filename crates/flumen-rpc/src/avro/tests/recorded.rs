//! What Java Flume 1.11 clients and sources said to each other, said again.

use super::*;
use crate::avro::events::put_batch;
use base64ct::{Base64, Encoding};
use std::{fs, path::PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/parity/fixtures/rpc"].iter().collect()
}

fn scenarios() -> Vec<String> {
    let names =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("avro-")).collect();
    names.sort();
    assert!(names.len() > 20);
    names
}

/// Bytes of each connection, from the client and from the source, inflated.
fn connections(scenario: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let read = |name: String| {
        let inflated = folder().join(scenario).join(format!("{name}.inflated.bin"));
        fs::read(inflated).or_else(|_| fs::read(folder().join(scenario).join(format!("{name}.bin")))).ok()
    };
    let mut all: Vec<_> =
        read("c2s".to_owned()).map(|sent| (sent, read("s2c".to_owned()).unwrap())).into_iter().collect();
    for n in 1.. {
        let Some(sent) = read(format!("conn{n}.c2s")) else { break };
        all.push((sent, read(format!("conn{n}.s2c")).unwrap()));
    }
    assert!(!all.is_empty(), "{scenario}");
    all
}

fn expected(scenario: &str) -> Batch {
    let text = fs::read_to_string(folder().join(scenario).join("expected.jsonl")).unwrap();
    let mut batch = Batch::new();
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let headers = event["headers"].as_object().unwrap().iter();
        let headers: Headers =
            headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
        batch.push(headers, Base64::decode_vec(event["body"].as_str().unwrap()).unwrap());
    }
    batch
}

/// The source of the recordings: a channel of five events where the scenario says so, and an interceptor that throws.
fn source(scenario: &str) -> Arc<Store> {
    let capacity = if scenario.ends_with("-full") { 5 } else { usize::MAX };
    Store::new(move |call, stored| {
        let throws = call.batch.iter().any(|event| event.headers.get("boom").is_some());
        match call.method {
            Method::Append if throws => Outcome::Error(
                "org.apache.avro.AvroRuntimeException: Unknown datum type java.lang.IllegalStateException: \
                 java.lang.IllegalStateException: boom interceptor"
                    .to_owned(),
            ),
            _ if throws || stored.len() + call.batch.len() > capacity => Outcome::Status(Status::Failed),
            _ => Outcome::Status(Status::Ok),
        }
    })
}

#[tokio::test]
async fn what_javas_clients_sent_is_stored_and_answered_as_javas_source_did() {
    for scenario in scenarios() {
        let store = source(&scenario);
        let server = Server::start(&store, Shared::default()).await;
        for (n, (sent, answered)) in connections(&scenario).into_iter().enumerate() {
            let mut stream = server.tcp().await;
            stream.write_all(&sent).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut got = Vec::new();
            stream.read_to_end(&mut got).await.unwrap();
            assert!(cut(&got) == cut(&answered), "{scenario}, connection {n}:\n{got:?}\n{answered:?}");
            assert_eq!(server.end().await, Ok(()), "{scenario}");
        }
        assert!(store.stored() == expected(&scenario), "{scenario}");
    }
}

#[tokio::test]
async fn what_javas_clients_compressed_is_inflated() {
    for scenario in scenarios().iter().filter(|name| name.contains("-deflate-")) {
        let files = fs::read_dir(folder().join(scenario)).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|path| path.to_str().unwrap().ends_with(".inflated.bin")) {
            let compressed = file.to_str().unwrap().replace(".inflated", "");
            let (mut here, there) = duplex(1000);
            let bytes = fs::read(compressed).unwrap();
            let send = async {
                here.write_all(&bytes).await.unwrap();
                drop(here);
            };
            let mut got = Vec::new();
            let mut inflated = crate::net::Deflate::new(there, 6);
            let ((), read) = tokio::join!(send, inflated.read_to_end(&mut got));
            read.unwrap();
            assert!(got == fs::read(&file).unwrap(), "{file:?}");
        }
    }
}

#[test]
fn what_javas_clients_sent_is_encoded_again_to_the_same_bytes() {
    let mut n_calls = 0;
    for scenario in scenarios().iter().filter(|name| !name.contains("evolved") && !name.contains("unknown")) {
        for (sent, _) in connections(scenario) {
            let mut session = Session::new(Arc::default());
            for (serial, payload) in cut(&sent) {
                let Asked::Store { method, batch, .. } = session.ask(&payload) else {
                    panic!("{scenario} {serial}")
                };
                let mut again = Vec::new();
                if serial == 1 {
                    let request = HandshakeRequest {
                        client_hash: HASH,
                        client_protocol: None,
                        server_hash: HASH,
                        keeps_order: false,
                    };
                    request.put(&mut again);
                }
                again.push(0);
                wire::put_bytes(&mut again, method.name().as_bytes());
                match method {
                    Method::Append => events::put_event(batch.get(0).unwrap(), &mut again),
                    Method::AppendBatch => put_batch(&batch, &mut again),
                }
                assert!(again == payload, "{scenario}, call {serial}");
                n_calls += 1;
            }
        }
    }
    assert!(n_calls > 30, "{n_calls}");
}

/// What the recorded source answers, our client takes as Java's did; frame by frame, whatever it sends.
#[tokio::test]
async fn javas_answers_are_understood() {
    for scenario in scenarios().iter().filter(|name| !name.contains("deflate") && !name.contains("evolved")) {
        for (n, (_, answered)) in connections(scenario).into_iter().enumerate() {
            let answers = cut(&answered);
            if answers.is_empty() {
                continue;
            }
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let target = Target { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
            let n_calls = if scenario.contains("unknown") && n == 0 { 1 } else { answers.len() };
            let server = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut reader = FrameReader::new(MAX_FRAME_BYTES, Budget::new(1 << 30));
                for (_, payload) in answers {
                    let call = reader.next(&mut stream).await.unwrap().unwrap();
                    let mut out = Vec::new();
                    frame::put(call.serial, &payload, &mut out);
                    stream.write_all(&out).await.unwrap();
                }
            };
            let client = async {
                let mut client = Client::connect(&target, &Options::default()).await.unwrap();
                let mut outcomes = Vec::new();
                for _ in 0..n_calls {
                    let outcome = client.append_batch(&sample()).await;
                    outcomes.push(outcome.err().map(|error| error.to_string()));
                }
                assert!(!client.keeps_order(), "Java has not said so");
                outcomes
            };
            let (outcomes, ()) = tokio::join!(client, server);
            let all = format!("{outcomes:?}");
            match scenario.as_str() {
                "avro-full" => assert!(outcomes[0].is_none() && all.contains("answered FAILED"), "{all}"),
                "avro-interceptor-error" if n == 0 => assert!(all.contains("boom interceptor"), "{all}"),
                "avro-interceptor-error" if n == 1 => assert!(all.contains("answered FAILED"), "{all}"),
                _ => assert!(outcomes.iter().all(Option::is_none), "{scenario} {n}: {all}"),
            }
        }
    }
}
