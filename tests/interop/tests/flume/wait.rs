//! Waiting for ports and for what else takes its time.

use std::{
    net::{TcpListener, TcpStream},
    time::Duration,
};
use tokio::time::Instant;

/// Generous: a JVM starts, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(180);

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while !holds() {
        assert!(start.elapsed() < LIMIT, "stuck: {what}");
        pause.tick().await;
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub(crate) fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}
