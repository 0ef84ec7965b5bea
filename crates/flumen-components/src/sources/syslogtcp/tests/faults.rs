//! Channels that are full and senders that go away.

use super::*;
use flumen_core::channel::Channel;

#[tokio::test]
async fn sys_05_messages_are_counted() {
    let (context, _) = source_context();
    let (channel, source) = (large_channel(), source_in(&[], &context, "UTC"));
    let address = source.address();
    let metrics = context.metrics.clone();
    running(source, address, &channel, async |addresses| {
        talk(addresses[0], &[b"<13>x\n".repeat(10)], &channel).await;
    })
    .await;
    // The processor of the tests counts on its own; this one counts connections.
    assert_eq!((channel.contents().len(), metrics.open_connections.get()), (10, 0));
}

#[tokio::test]
async fn sys_06_what_a_full_channel_refuses_is_stored_when_there_is_room() {
    let (context, _) = source_context();
    let (channel, source) = (channel(5, 5), source_in(&[], &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let mut stream = TcpStream::connect(addresses[0]).await.unwrap();
        let text: String = (0..40).map(|n| format!("<13>{n}\n")).collect();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut taken = Vec::new();
        while taken.len() < 40 {
            until("events", || channel.depth().queued > 0).await;
            taken.extend(take_all(&channel).await);
        }
        let expected: Vec<String> = (0..40).map(|n| format!("<13>{n}")).collect();
        assert_eq!(taken, expected, "all of them, once, in order");
    })
    .await;
}

/// Takes what is in the channel, and commits.
async fn take_all(channel: &Arc<ScriptedChannel>) -> Vec<String> {
    let taken = flumen_core::channel::begin_take(&**channel, 5).await.unwrap().expect("there are events");
    let bodies = taken.batch().iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap()).collect();
    taken.commit().await.unwrap();
    bodies
}

#[tokio::test]
async fn a_source_that_stops_gives_up_what_does_not_fit_and_says_so() {
    let (context, _) = source_context();
    let (channel, mut source) = (channel(1, 1), source_in(&[], &context, "UTC"));
    let mut address = source.address();
    let (stop, shutdown) = Shutdown::new();
    let out = crate::testing::processor(&[&channel]);
    let work = async {
        let address = (*address.wait_for(Option::is_some).await.unwrap()).unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"<13>a\n<13>b\n").await.unwrap();
        until("a refusal", || out.metrics().channel_write_fail.get() > 0).await;
        stop.request();
        stream
    };
    let run = tokio::time::timeout(LIMIT, source.run(out.clone(), shutdown));
    let (ended, _stream) = tokio::join!(run, work);
    ended.expect("it stops").unwrap();
    assert_eq!((channel.depth().queued, out.metrics().generic_fail.get()), (1, 1));
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_message_leaves_what_came_of_it() {
    let (context, _) = source_context();
    let (channel, source) = (large_channel(), source_in(&[], &context, "UTC"));
    let address = source.address();
    running(source, address, &channel, async |addresses| {
        let mut stream = TcpStream::connect(addresses[0]).await.unwrap();
        stream.write_all(b"<13>whole\n<13>half of").await.unwrap();
        until("the first", || channel.depth().queued == 1).await;
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        drop(stream);
        until("the second", || channel.depth().queued == 2).await;
    })
    .await;
    let events = crate::shared::syslog::recorded::shown(&channel.contents());
    assert_eq!(brief(&events), [("<13>whole", ""), ("<13>half of", "Incomplete")]);
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let (context, _) = source_context();
    let mut source = source_in(&[], &context, "UTC");
    source.port = port;
    let (_stop, shutdown) = Shutdown::new();
    let error =
        source.run(crate::testing::processor(&[&channel(1, 1)]), shutdown).await.unwrap_err().to_string();
    assert!(error.contains(&format!("port {port}")) && error.contains("a.sources.r.port"), "{error}");
}
