//! How a run ends when the program itself is at fault.

use super::*;
use crate::conf::Sources;
use tokio::time::timeout;

#[tokio::test]
async fn a_channel_that_a_fault_has_broken_ends_the_agent_with_70() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.conf");
    let text = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = count\na.sources.r.channels = c\n\
        a.channels.c.type = brittle\na.sinks.k.type = collect\na.sinks.k.channel = c\na.sinks.k.mode = panics once\n\
        a.sinks.k.store = ends with 70\n";
    std::fs::write(&path, text).unwrap();
    let program = Program { registry: crate::agent::tests::registry(), environment: Arc::default() };
    let options = AgentOptions {
        target: Target { agent: "a".into(), sources: Sources { files: vec![path], ..Sources::default() } },
        reload: false,
        poll_interval: Duration::ZERO,
        drain: Duration::ZERO,
        strict: false,
        java_exit_status: true,
    };
    let code = timeout(Duration::from_secs(60), run(&program, &options)).await.expect("it ends");
    assert_eq!(code, ExitCode::from(70));
}
