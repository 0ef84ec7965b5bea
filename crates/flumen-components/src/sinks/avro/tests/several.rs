//! One sink with a client of several hosts, as Java makes it of `client.type` and `hosts`.

use super::*;

/// The settings of a client of these hosts; `hostname` and `port` name a port where nobody is.
fn several(kind: &str, ports: &[u16], more: &[(&str, &str)]) -> AvroSink {
    let names: Vec<String> = (0..ports.len()).map(|n| format!("b{n}")).collect();
    let hosts = names.join(" ");
    let addresses: Vec<(String, String)> = names
        .iter()
        .zip(ports)
        .map(|(name, port)| (format!("hosts.{name}"), format!("127.0.0.1:{port}")))
        .collect();
    let mut pairs = vec![("client.type", kind), ("hosts", hosts.as_str())];
    pairs.extend(addresses.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    pairs.extend_from_slice(more);
    build(1, &pairs, &sink_context(0, false))
}

#[tokio::test]
async fn a_failover_client_sends_to_the_first_host_that_works_and_to_the_next_when_it_goes() {
    let stores = [Arc::<Store>::default(), Arc::default()];
    let (one, two) = (Server::start(&stores[0], 0).await, Server::start(&stores[1], 0).await);
    let mut sink = several("default_failover", &[one.port, two.port], &[]);
    for n in 0..3 {
        assert_eq!(deliver(&mut sink, &numbered(n..n + 1)).await.unwrap(), 1);
    }
    let port = one.port;
    one.stop().await;
    assert_eq!(deliver(&mut sink, &numbered(3..6)).await.unwrap(), 3);
    assert_eq!((stores[0].numbers(), stores[1].numbers()), (vec![0, 1, 2], vec![3, 4, 5]));
    two.stop().await;
    // Nobody is there: all stays in the channel, and goes when the first is back.
    assert!(deliver(&mut sink, &numbered(6..8)).await.is_err());
    let _back = Server::start(&stores[0], port).await;
    assert_eq!(deliver(&mut sink, &numbered(6..8)).await.unwrap(), 2);
    assert_eq!(stores[0].numbers(), [0, 1, 2, 6, 7]);
    assert_eq!(sink.metrics.connections_created.get(), 2);
    Sink::close(&mut sink).await.unwrap();
    assert_eq!(sink.metrics.connections_closed.get(), 2);
}

#[tokio::test]
async fn a_balancing_client_sends_to_its_hosts_in_turn_and_a_refusal_goes_to_the_next() {
    let stores = [Arc::<Store>::default(), Arc::default()];
    let (one, two) = (Server::start(&stores[0], 0).await, Server::start(&stores[1], 0).await);
    let mut sink = several("default_loadbalance", &[one.port, two.port], &[("batch-size", "2")]);
    for n in 0..10 {
        assert_eq!(deliver(&mut sink, &numbered(2 * n..2 * n + 2)).await.unwrap(), 2);
    }
    assert_eq!((stores[0].numbers().len(), stores[1].numbers().len()), (10, 10));
    stores[0].refuses.store(true, Ordering::SeqCst);
    for n in 10..12 {
        assert_eq!(deliver(&mut sink, &numbered(2 * n..2 * n + 2)).await.unwrap(), 2);
    }
    assert_eq!((stores[0].numbers().len(), stores[1].numbers().len()), (10, 14));
    stores[1].refuses.store(true, Ordering::SeqCst);
    let error = deliver(&mut sink, &numbered(24..26)).await.unwrap_err().to_string();
    assert!(error.contains("FAILED"), "{error}");
}

#[tokio::test]
async fn hosts_of_a_default_client_take_the_place_of_hostname_and_port() {
    let store = Arc::<Store>::default();
    let server = Server::start(&store, 0).await;
    let mut sink = several("default", &[server.port, 1], &[]);
    assert_eq!(deliver(&mut sink, &numbered(0..2)).await.unwrap(), 2);
    // Its own address goes by the name `h1`.
    let pairs = [("client.type", "default_failover"), ("hosts", "h1")];
    let mut own = build(server.port, &pairs, &sink_context(0, false));
    assert_eq!(deliver(&mut own, &numbered(2..3)).await.unwrap(), 1);
    assert_eq!(store.numbers(), [0, 1, 2]);
}

#[test]
fn what_a_client_of_several_hosts_cannot_have_is_told_by_its_key() {
    for (pairs, says) in [
        (&[("client.type", "default_loadbalance")][..], "needs two hosts"),
        (&[("client.type", "default_failover"), ("hosts", "a"), ("hosts.a", "b")], "hosts.a: `b`"),
        (&[("hosts", "a")], "hosts.a is required"),
        (&[("client.type", "default_failover"), ("max-in-flight", "2")], "max-in-flight: is not there"),
        (&[("client.type", "default_failover"), ("keystore", "x")], "keystore: is not there"),
    ] {
        let built = AvroSink::build(config(1, pairs).unwrap(), &sink_context(0, false));
        let error = built.expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(config(1, &[("client.type", "mine")]).unwrap_err().contains("client.type"));
}
