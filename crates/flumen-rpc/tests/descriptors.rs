//! Clients that take every descriptor they can get: files may be opened all the same.
#![allow(clippy::unwrap_used, reason = "a test may")]

use flumen_rpc::net::accept;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};

/// It is alone in its process, whose limit it lowers.
#[tokio::test]
async fn connections_leave_descriptors_for_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(100);
    setrlimit(Resource::Nofile, limit).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut taken = Vec::new();
    let error = loop {
        let client = TcpStream::connect(address).await.unwrap();
        match accept(&listener).await {
            Ok((server, _)) => taken.push((client, server)),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(24), "{error}");
    // Each pair has two descriptors of the 75 that are for connections.
    assert!((25..=37).contains(&taken.len()), "{}", taken.len());
    let files: Vec<_> = (0..20).map(|_| any_file().unwrap()).collect();
    assert_eq!(files.len(), 20);
    taken.clear();
    let _client = TcpStream::connect(address).await.unwrap();
    drop(files);
    accept(&listener).await.unwrap();
}

fn any_file() -> std::io::Result<std::fs::File> {
    std::fs::File::open("/dev/null")
}
