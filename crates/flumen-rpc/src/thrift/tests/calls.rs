//! A server and clients over the loopback.

use super::*;
use crate::net::{Accepted, Listener, ServerLimits, Target, bind, dial};
use flumen_core::{
    metrics::SourceMetrics,
    source::{Shutdown, ShutdownHandle},
};
use std::{
    collections::VecDeque,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(20);

/// Stores what it gets and answers as it is told; `gate` lets answers through one by one.
#[derive(Debug)]
struct Scripted {
    stored: Mutex<Vec<String>>,
    answers: Mutex<VecDeque<Answer>>,
    gate: Arc<Semaphore>,
}

impl Service for Scripted {
    async fn begin(&self, call: Call) -> impl Future<Output = Answer> + Send + 'static {
        let bodies = call.batch.iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap());
        self.stored.lock().unwrap().push(bodies.collect::<Vec<_>>().join(" "));
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Answer::Status(Status::Ok));
        let gate = self.gate.clone();
        async move {
            gate.acquire_owned().await.unwrap().forget();
            answer
        }
    }
}

struct Server {
    target: Target,
    service: Arc<Scripted>,
    stop: ShutdownHandle,
    tasks: JoinSet<()>,
}

impl Server {
    async fn start(permits: usize, answers: impl IntoIterator<Item = Answer>) -> Self {
        let service = Arc::new(Scripted {
            stored: Mutex::default(),
            answers: Mutex::new(answers.into_iter().collect()),
            gate: Arc::new(Semaphore::new(permits)),
        });
        let socket = bind("127.0.0.1", 0, 16).await.unwrap();
        let target = Target { host: "127.0.0.1".into(), port: socket.local_addr().unwrap().port() };
        let listener = Listener {
            name: "r".into(),
            socket,
            tls: None,
            limits: ServerLimits::default(),
            metrics: Arc::new(SourceMetrics::default()),
        };
        let (stop, shutdown) = Shutdown::new();
        let behind = service.clone();
        let connection = move |accepted: Accepted| {
            serve(accepted, behind.clone(), Protocol::Compact, 1 << 20, Memory::new(4 << 20))
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { listener.serve(shutdown, |_| true, connection).await });
        Self { target, service, stop, tasks }
    }

    async fn client(&self) -> Connection {
        Connection::new(dial(&self.target, None, LIMIT).await.unwrap(), Protocol::Compact)
    }

    async fn raw(&self) -> TcpStream {
        TcpStream::connect((&*self.target.host, self.target.port)).await.unwrap()
    }

    fn stored(&self) -> Vec<String> {
        self.service.stored.lock().unwrap().clone()
    }

    async fn stop(mut self) {
        self.stop.request();
        timeout(LIMIT, self.tasks.join_next()).await.expect("the server stops").unwrap().unwrap();
    }
}

/// All that comes until the end.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = timeout(LIMIT, stream.read_to_end(&mut all)).await.expect("the server closes the connection");
    all
}

#[tokio::test]
async fn calls_are_answered_and_a_status_leaves_the_connection_open() {
    let internal = Answer::Internal("Internal error processing append".to_owned());
    let ok = Answer::Status(Status::Ok);
    let server = Server::start(100, [ok.clone(), Answer::Status(Status::Failed), ok, internal]).await;
    let mut client = server.client().await;
    client.append_batch(&sample(), 0..2).await.unwrap();
    let failed = client.append(&sample(), 1).await.unwrap_err();
    assert!(matches!(failed, CallError::Status(Status::Failed)) && failed.keeps_connection());
    client.append(&sample(), 0).await.unwrap();
    let failed = client.append(&sample(), 0).await.unwrap_err();
    assert!(failed.to_string().contains("Internal error processing append"), "{failed}");
    assert!(!failed.keeps_connection());
    client.append_batch(&sample(), 1..2).await.unwrap();
    assert_eq!(server.stored(), ["hello x", "x", "hello", "hello", "x"]);
    server.stop().await;
}

#[tokio::test]
async fn several_calls_are_at_work_and_answered_in_their_order() {
    let server = Server::start(0, []).await;
    let mut stream = server.raw().await;
    let mut frames = Vec::new();
    for sequence in 1..=20 {
        frames.extend(call(Protocol::Compact, Method::Append, sequence, &sample()));
    }
    stream.write_all(&frames).await.unwrap();
    let gate = server.service.gate.clone();
    for sequence in 1..=20_i32 {
        gate.add_permits(1);
        let mut len = [0; 4];
        timeout(LIMIT, stream.read_exact(&mut len)).await.expect("an answer").unwrap();
        let mut frame = vec![0; u32::from_be_bytes(len) as usize];
        timeout(LIMIT, stream.read_exact(&mut frame)).await.expect("an answer").unwrap();
        assert_eq!(decode_reply(&frame, Protocol::Compact).unwrap().sequence, sequence);
        let begun = server.stored().len();
        assert!(begun <= sequence as usize + 9, "{begun} were begun, {sequence} are answered");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_stop_answers_what_is_at_work_and_reads_no_more() {
    let server = Server::start(0, []).await;
    let mut client = server.client().await;
    let gate = server.service.gate.clone();
    let batch = sample();
    let asked = async { client.append(&batch, 0).await };
    let service = server.service.clone();
    let stop = async {
        timeout(LIMIT, async {
            while service.stored.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("the call arrives");
        server.stop.request();
        gate.add_permits(1);
    };
    let (answer, ()) = tokio::join!(asked, stop);
    answer.unwrap();
    assert!(client.append(&batch, 0).await.is_err());
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_understood_is_answered_where_it_can_be_and_harms_nobody_else() {
    let server = Server::start(100, []).await;
    let mut good = server.client().await;
    good.append(&sample(), 0).await.unwrap();
    for (what, bytes) in [
        ("HTTP", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".to_vec()),
        ("TLS", hex("16030100 2f010000")),
        ("Avro", hex("00000001 00000002 00000030 86aadae2")),
        ("2 GB", hex("7fffffff")),
        ("a negative length", hex("ffffffff 00")),
        ("nothing", hex("00000000")),
        ("longer than allowed", hex("00100001 82")),
        ("the other protocol", call(Protocol::Binary, Method::Append, 1, &sample())),
        ("noise", hex("00000004 82 ff ff ff")),
    ] {
        let mut stream = server.raw().await;
        stream.write_all(&bytes).await.unwrap();
        assert_eq!(rest(&mut stream).await, b"", "{what}");
    }
    // A call with arguments that are cut, and then a good one that is not read any more.
    let mut stream = server.raw().await;
    let asked = hex("0000000c 82 21 03 06 617070656e64 1c 1b");
    stream.write_all(&asked).await.unwrap();
    let answer = rest(&mut stream).await;
    let reply = decode_reply(&message(&answer), Protocol::Compact).unwrap();
    assert_eq!((reply.sequence, reply.answer.unwrap_err().0), (3, 7));
    good.append(&sample(), 0).await.unwrap();
    assert_eq!(server.stored().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn an_unknown_method_is_answered_and_the_connection_goes_on() {
    let server = Server::start(100, []).await;
    let mut stream = server.raw().await;
    stream.write_all(&hex("00000009 82 21 05 04 70696e67 00")).await.unwrap();
    stream.write_all(&call(Protocol::Compact, Method::Append, 6, &sample())).await.unwrap();
    stream.shutdown().await.unwrap();
    let answers = rest(&mut stream).await;
    let len = 4 + answers[3] as usize;
    let reply = decode_reply(&answers[4..len], Protocol::Compact).unwrap();
    assert_eq!(reply.answer, Err((1, "invalid method name: 'ping'".to_owned())));
    assert_eq!(decode_reply(&answers[len + 4..], Protocol::Compact).unwrap().answer, Ok(Status::Ok));
    server.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stalls_within_a_frame_is_let_go_and_an_idle_one_is_not() {
    let (mut near, mut far) = tokio::io::duplex(64);
    let mut frames = frame::Frames::new(1 << 20, None);
    near.write_all(&[0, 0]).await.unwrap();
    let stalled = frames.next(&mut far).await.unwrap_err().to_string();
    assert!(stalled.contains("not gone on with a frame within 30 s"), "{stalled}");
    let mut frames = frame::Frames::new(1 << 20, None);
    let (near, mut far) = tokio::io::duplex(64);
    assert!(timeout(Duration::from_secs(100_000), frames.next(&mut far)).await.is_err());
    drop(near);
    assert!(frames.next(&mut far).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn frames_together_hold_no_more_memory_than_allowed() {
    let memory = Memory::new(1 << 20);
    let whole = [&(600_u32 << 10).to_be_bytes()[..], &vec![7; 600 << 10]].concat();
    let mut readers: Vec<_> = (0..2).map(|_| frame::Frames::new(1 << 20, Some(memory.clone()))).collect();
    let first = readers[0].next(&mut whole.as_slice()).await.unwrap().unwrap();
    assert_eq!(first.bytes.len(), 600 << 10);
    let refused = readers[1].next(&mut whole.as_slice()).await.unwrap_err().to_string();
    assert!(refused.contains("no memory for a frame within 10 s"), "{refused}");
    drop((first, readers.pop()));
    let mut reader = frame::Frames::new(1 << 20, Some(memory));
    assert!(reader.next(&mut whole.as_slice()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_batch_too_long_for_one_frame_goes_in_several() {
    let mut batch = Batch::new();
    for _ in 0..3 {
        batch.push(Headers::new(), vec![b'x'; 7 << 20]);
    }
    let (near, far) = tokio::io::duplex(1 << 20);
    let mut client = Connection::new(Box::new(near), Protocol::Binary);
    let server = async {
        let mut far = far;
        let mut frames = frame::Frames::new(MAX_FRAME_BYTES, None);
        let mut sizes = Vec::new();
        while let Some(frame) = frames.next(&mut far).await.unwrap() {
            let call = decode_call(frame.bytes, Protocol::Binary).unwrap();
            sizes.push(call.batch.len());
            let mut out = Vec::new();
            encode_reply(&mut out, Protocol::Binary, "appendBatch", call.sequence, Ok(Status::Ok));
            far.write_all(&out).await.unwrap();
        }
        sizes
    };
    let client = async move {
        client.append_batch(&batch, 0..3).await.unwrap();
    };
    let ((), sizes) = tokio::join!(client, server);
    assert_eq!(sizes, [2, 1]);
}

#[tokio::test]
async fn a_client_refuses_answers_to_other_calls_and_what_is_no_answer() {
    let mut other = Vec::new();
    encode_reply(&mut other, Protocol::Compact, "append", 7, Ok(Status::Ok));
    for (answer, says) in [
        (other, "answered call 7 instead of 1"),
        (hex("00000002 8241"), "cannot be read"),
        (hex("7fffffff"), "a frame of 2147483647 bytes"),
        (Vec::new(), "closed the connection"),
        (hex("000000"), "within a frame"),
    ] {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut client = Connection::new(Box::new(near), Protocol::Compact);
        far.write_all(&answer).await.unwrap();
        far.shutdown().await.unwrap();
        let batch = sample();
        let error = client.append(&batch, 0).await.unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.keeps_connection());
    }
}
