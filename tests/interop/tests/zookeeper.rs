//! Configuration from a real ZooKeeper: read once, watched, with its node coming and going, and its server too.

use flumen_agent::{
    commands::Program,
    conf::{Origins, Sources, load},
};
use flumen_core::registry::Environment;
use interop::{Peer, missing};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode};

const LIMIT: Duration = Duration::from_secs(30);
/// Long enough for an event that must not come to have come.
const QUIET: Duration = Duration::from_millis(500);
const FLOW: &str = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.channels = c\n\
    a.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\na.sinks.bad = 1\n";

fn sources(server: &Peer) -> Sources {
    Sources { zookeeper: Some(server.address.clone()), ..Sources::default() }
}

async fn client(server: &Peer) -> Client {
    timeout(LIMIT, Client::connect(&server.address)).await.unwrap().unwrap()
}

async fn create(client: &Client, node: &str, text: &[u8]) {
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    client.create(node, text, &options).await.unwrap();
}

async fn text(origins: &mut Origins) -> String {
    let texts = timeout(LIMIT, origins.read()).await.unwrap().unwrap();
    String::from_utf8(texts.list.first().map(|text| text.bytes.clone()).unwrap_or_default()).unwrap()
}

async fn change(origins: &mut Origins) {
    timeout(LIMIT, origins.changed(LIMIT)).await.unwrap();
}

async fn is_quiet(origins: &mut Origins) -> bool {
    timeout(QUIET, origins.changed(LIMIT)).await.is_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_17_a_node_is_read_once_as_the_same_file_is() {
    if missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let client = client(&server).await;
    create(&client, "/flume", b"").await;
    create(&client, "/flume/a", FLOW.as_bytes()).await;
    create(&client, "/flume/u", "u.x = 日\n".as_bytes()).await;

    let file = dir.path().join("flume.conf");
    std::fs::write(&file, FLOW).unwrap();
    let environment = Arc::new(Environment::default());
    let program = Program { registry: Arc::new(flumen_agent::registry()), environment };
    let mut from_file = Origins::new(Sources { files: vec![file], ..Sources::default() }, "a");
    let (of_file, told_of_file) = program.read_plan(&mut from_file, "a").await.unwrap();
    let mut from_node = Origins::new(sources(&server), "a");
    let (of_node, told_of_node) = program.read_plan(&mut from_node, "a").await.unwrap();
    assert!(!of_node.is_empty());
    assert_eq!(of_node, of_file);
    let what = |told: &[flumen_core::config::Problem]| -> Vec<String> {
        told.iter().map(|problem| format!("{}: {}", problem.key, problem.what)).collect()
    };
    assert_eq!(what(&told_of_node), what(&told_of_file));

    let mut utf8 = Origins::new(sources(&server), "u");
    let texts = utf8.read().await.unwrap();
    assert_eq!(load(&texts.list).0.list[0].value, "日");
    let none = Origins::new(sources(&server), "none").read().await.unwrap_err().to_string();
    assert!(none.contains("/flume/none") && none.contains("there is no such node"), "{none}");
    let based = Sources { zookeeper_base: "/other/".to_owned(), ..sources(&server) };
    let none = Origins::new(based, "a").read().await.unwrap_err().to_string();
    assert!(none.contains("/other/a"), "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_17_a_watched_node_may_come_later_change_and_go() {
    if missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let client = client(&server).await;
    let mut origins = Origins::new(sources(&server), "a");
    origins.follow(true);
    assert_eq!(text(&mut origins).await, "");
    create(&client, "/flume", b"").await;
    create(&client, "/flume/a", b"").await;
    change(&mut origins).await;
    assert_eq!(text(&mut origins).await, "");

    for version in ["a.x = 1\n", "a.x = 2\n"] {
        client.set_data("/flume/a", version.as_bytes(), None).await.unwrap();
        change(&mut origins).await;
        assert_eq!(text(&mut origins).await, version);
    }
    // What empties or goes leaves what was read.
    client.set_data("/flume/a", b"", None).await.unwrap();
    assert!(is_quiet(&mut origins).await);
    client.delete("/flume/a", None).await.unwrap();
    assert!(is_quiet(&mut origins).await);
    assert_eq!(text(&mut origins).await, "a.x = 2\n");
    create(&client, "/flume/a", b"a.x = 3\n").await;
    change(&mut origins).await;
    assert_eq!(text(&mut origins).await, "a.x = 3\n");

    // A payload that is no text is seen and refused as a whole.
    client.set_data("/flume/a", &[0, 159, 0, 255, 254], None).await.unwrap();
    change(&mut origins).await;
    let texts = origins.read().await.unwrap();
    assert_eq!(load(&texts.list).0.unusable.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_away_is_found_again() {
    if missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let port = server.port();
    let one = client(&server).await;
    create(&one, "/flume", b"").await;
    create(&one, "/flume/a", b"a.x = 1\n").await;
    let mut origins = Origins::new(sources(&server), "a");
    origins.follow(true);
    assert_eq!(text(&mut origins).await, "a.x = 1\n");
    drop((one, server));

    assert!(is_quiet(&mut origins).await);
    let server = Peer::start("zookeeper", dir.path(), port).unwrap();
    client(&server).await.set_data("/flume/a", b"a.x = 2\n", None).await.unwrap();
    change(&mut origins).await;
    assert_eq!(text(&mut origins).await, "a.x = 2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_only_a_login_may_read_is_told_with_the_way_out() {
    if missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = Peer::start("zookeeper", dir.path(), 0).unwrap();
    let client = client(&server).await;
    create(&client, "/flume", b"").await;
    client.auth("digest", b"flume:geheim").await.unwrap();
    let options = CreateMode::Persistent.with_acls(Acls::creator_all());
    client.create("/flume/a", FLOW.as_bytes(), &options).await.unwrap();
    let mut origins = Origins::new(sources(&server), "a");
    let told = timeout(LIMIT, origins.read()).await.unwrap().unwrap_err().to_string();
    assert!(told.contains("nobody may read this node without a login"), "{told}");
    assert!(told.contains("-u, --conf-user"), "{told}");
}
