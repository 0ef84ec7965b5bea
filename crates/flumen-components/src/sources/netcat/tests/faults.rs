//! Channels that refuse, peers that stall, ports that are taken.

use super::*;
use flumen_core::{
    intercept::{InterceptError, Interceptor},
    processor::ChannelProcessor,
    testing::Everywhere,
};

/// A conversation line by line.
struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next line that comes back; empty when the source has ended its side.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(LIMIT, self.0.read_line(&mut line)).await.expect("an answer").unwrap();
        line
    }
}

#[tokio::test]
async fn a_full_channel_is_told_for_each_line_and_the_connection_stays() {
    let channel = channel(2, 2);
    running(source(&[]), &channel, async |address| {
        let mut client = Client::connect(address).await;
        client.send("1\n2\n").await;
        assert_eq!([client.line().await, client.line().await], ["OK\n", "OK\n"]);
        client.send("3\n4\n").await;
        for _ in 0..2 {
            let said = client.line().await;
            assert!(said.starts_with("FAILED: channel c is full"), "{said}");
        }
        channel.reconfigure(&ChannelLimits { capacity: 10, ..channel.limits() }).unwrap();
        client.send("5\n").await;
        assert_eq!(client.line().await, "OK\n");
    })
    .await;
    assert_eq!(channel.numbers(), [1, 2, 5]);
}

#[tokio::test]
async fn sys_33_ok_comes_after_the_commit_and_not_before() {
    let channel = channel(100, 100);
    channel.answer_late(true);
    running(source(&[]), &channel, async |address| {
        let mut client = Client::connect(address).await;
        client.send("1\n").await;
        // The commit is under way as soon as it can be answered with failure or success.
        let mut early = [0; 8];
        let waiting = timeout(std::time::Duration::from_millis(50), client.0.read(&mut early)).await;
        assert!(waiting.is_err(), "answered before the commit");
        until("a commit", || channel.answer(true)).await;
        assert_eq!(client.line().await, "OK\n");
        client.send("2\n").await;
        until("a commit", || channel.answer(false)).await;
        assert!(client.line().await.starts_with("FAILED: channel c: storage failed"));
    })
    .await;
    assert_eq!(channel.numbers(), [1]);
}

#[tokio::test]
async fn more_lines_than_a_transaction_holds_are_put_in_parts() {
    let channel = channel(1_000, 4);
    let reply = running(source(&[]), &channel, async |address| {
        let text: String = (0..50).map(|n| format!("{n}\n")).collect();
        talk(address, &[text.into_bytes()]).await
    })
    .await;
    assert_eq!(reply, "OK\n".repeat(50).as_bytes());
    assert_eq!(channel.numbers(), (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn lines_that_are_too_many_bytes_together_are_put_in_smaller_parts() {
    let keep_alive = std::time::Duration::from_millis(20);
    let limits = ChannelLimits { capacity: 100, transaction_capacity: 100, byte_slots: Some(5), keep_alive };
    let channel = Arc::new(ScriptedChannel::with_limits("c", limits));
    let reply = running(source(&[]), &channel, async |address| {
        talk(address, &[b"1\n2\n3\n4\n5\n6\n7\n8\n".to_vec()]).await
    })
    .await;
    let reply = String::from_utf8(reply).unwrap();
    let answers: Vec<&str> = reply.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(answers, [["OK"; 4], ["FAILED:"; 4]].concat(), "{reply}");
    assert_eq!(channel.numbers(), [1, 2, 3, 4]);
}

#[derive(Debug)]
struct Refusing;

impl Interceptor for Refusing {
    fn intercept(&self, _batch: &mut Batch) -> Result<(), InterceptError> {
        Err(InterceptError { interceptor: "refusing".to_owned(), reason: "two\nlines".to_owned() })
    }
}

#[tokio::test]
async fn an_interceptor_that_refuses_is_told_in_one_line() {
    let channel = channel(100, 100);
    let channels: Vec<Arc<dyn Channel>> = vec![channel.clone()];
    let out = ChannelProcessor::new(
        vec![Arc::new(Refusing)],
        Arc::new(Everywhere(1)),
        channels,
        &[0],
        Arc::default(),
    );
    let mut source = source(&[]);
    let mut address = source.address();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let address = (*address.wait_for(Option::is_some).await.unwrap()).unwrap();
        let reply = talk(address, &[b"x\n".to_vec()]).await;
        stop.request();
        String::from_utf8(reply).unwrap()
    };
    let (end, reply) = tokio::join!(Source::run(&mut source, out, shutdown), work);
    end.unwrap();
    assert!(reply.starts_with("FAILED: ") && reply.contains("two lines"), "{reply}");
    assert_eq!(reply.lines().count(), 1);
}

#[tokio::test]
async fn sys_35_fix_84_a_port_in_use_is_named_and_a_fresh_source_takes_it_when_it_is_free() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let channel = channel(100, 100);
    let (_stop, shutdown) = Shutdown::new();
    let pairs = [("port", port.as_str())];
    let mut first = source(&pairs);
    let error = Source::run(&mut first, processor(&[&channel]), shutdown).await.unwrap_err().to_string();
    let want = format!("cannot listen on 127.0.0.1 port {port} (choose another with a.sources.");
    assert!(error.starts_with(&want), "{error}");
    assert_eq!(*first.address().borrow(), None, "nothing stays open");
    drop(taken);
    let reply =
        running(source(&pairs), &channel, async |address| talk(address, &[b"1\n".to_vec()]).await).await;
    assert_eq!(reply, b"OK\n");
}

#[tokio::test]
async fn one_connection_too_many_is_told_so_and_the_others_go_on() {
    let channel = channel(100, 100);
    running(source(&[("max-connections", "1")]), &channel, async |address| {
        let mut first = Client::connect(address).await;
        first.send("1\n").await;
        assert_eq!(first.line().await, "OK\n");
        let mut second = Client::connect(address).await;
        assert_eq!(second.line().await, "FAILED: too many connections\n");
        assert_eq!(second.line().await, "", "and closed");
        first.send("2\n").await;
        assert_eq!(first.line().await, "OK\n");
        drop(first);
        // The place is free again, soon.
        let mut answer = String::new();
        for _ in 0..1_000 {
            let mut third = Client::connect(address).await;
            // It may be closed on us before we write.
            let _ = third.0.get_mut().write_all(b"3\n").await;
            answer.clear();
            let read = timeout(LIMIT, third.0.read_line(&mut answer)).await.expect("an answer or the end");
            if read.is_ok() && answer == "OK\n" {
                break;
            }
        }
        assert_eq!(answer, "OK\n");
    })
    .await;
    assert_eq!(channel.numbers(), [1, 2, 3]);
}

#[tokio::test]
async fn fix_84_open_connections_are_closed_when_the_source_stops() {
    let channel = channel(100, 100);
    let mut idle = running(source(&[]), &channel, async |address| {
        let mut client = Client::connect(address).await;
        client.send("1\n").await;
        assert_eq!(client.line().await, "OK\n");
        client
    })
    .await;
    assert_eq!(idle.line().await, "", "the source has ended its side");
}

#[tokio::test]
async fn binary_input_closes_its_connection_and_no_other() {
    let channel = channel(1_000, 100);
    running(source(&[]), &channel, async |address| {
        let mut good = Client::connect(address).await;
        let binary: Vec<u8> = (0..=255_u8).cycle().take(100_000).collect();
        let mut stream = TcpStream::connect(address).await.unwrap();
        // It may be closed on us while we write.
        let _ = stream.write_all(&binary).await;
        let mut reply = Vec::new();
        let _ = timeout(LIMIT, stream.read_to_end(&mut reply)).await.expect("it is closed");
        good.send("7\n").await;
        assert_eq!(good.line().await, "OK\n");
    })
    .await;
    assert_eq!(bodies(&channel.contents()).last().map(String::as_str), Some("7"));
}

/// The clock stands, so that the time limit is over as soon as nobody can do anything.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_take_its_answers_is_given_up() {
    let channel = channel(u64::MAX, 1_000_000);
    let mut source = source(&[]);
    let mut address = source.address();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let address = (*address.wait_for(Option::is_some).await.unwrap()).unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let lines = b"\n".repeat(64 << 10);
        // Both directions fill up; then the source closes, and a write fails.
        while stream.write_all(&lines).await.is_ok() {}
        stop.request();
    };
    let (end, ()) = tokio::join!(Source::run(&mut source, processor(&[&channel]), shutdown), work);
    end.unwrap();
    assert!(!channel.contents().is_empty());
}

#[test]
fn connections_that_bring_no_text_and_lines_that_are_not_stored_are_told_now_and_then() {
    let said = crate::testing::logged(async {
        let channel = channel(0, 100);
        running(source(&[]), &channel, async |address| {
            let mut good = Client::connect(address).await;
            for _ in 0..20 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"\xff\xff\n").await.unwrap();
                let mut reply = Vec::new();
                let _ = timeout(LIMIT, stream.read_to_end(&mut reply)).await.expect("it is closed");
                good.send("refused\n").await;
                assert!(good.line().await.starts_with("FAILED"));
            }
        })
        .await;
    });
    assert_eq!(said.matches("connection closed").count(), 1, "{said}");
    assert_eq!(said.matches("lines not stored").count(), 1, "{said}");
}
