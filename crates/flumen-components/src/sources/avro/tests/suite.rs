//! The contract of sources, with a client that sends each event until it is answered with OK.

use super::*;
use flumen_core::{
    source::DynSource,
    testing::{SourcePeer, SourceSuite, numbers},
};
use std::sync::Mutex;
use tokio::task::JoinSet;

#[derive(Default)]
struct Work {
    waiting: Mutex<Vec<u64>>,
    acknowledged: Mutex<Vec<u64>>,
    address: Mutex<Option<watch::Receiver<Option<SocketAddr>>>>,
}

struct Peer {
    work: Arc<Work>,
    /// The client ends with the peer.
    _client: JoinSet<()>,
}

impl Peer {
    fn new() -> Self {
        let work = Arc::new(Work::default());
        let mut client = JoinSet::new();
        client.spawn(send_all(work.clone()));
        Self { work, _client: client }
    }
}

impl SourcePeer for Peer {
    fn source(&self) -> Box<dyn DynSource> {
        let source = source(&[]);
        *self.work.address.lock().unwrap() = Some(source.address());
        Box::new(source)
    }

    fn offer(&self, numbers: std::ops::Range<u64>) {
        self.work.waiting.lock().unwrap().extend(numbers);
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        Some(self.work.acknowledged.lock().unwrap().clone())
    }

    fn offers_again(&self) -> bool {
        true
    }
}

/// Sends what waits to the source of the moment, over and over.
async fn send_all(work: Arc<Work>) {
    let address = || work.address.lock().unwrap().as_ref().and_then(|address| *address.borrow());
    loop {
        until("work", || !work.waiting.lock().unwrap().is_empty() && address().is_some()).await;
        if let Some(address) = address() {
            // A refused or broken connection: the next source, or the same, gets the rest.
            let _ = send(&work, Target { host: "127.0.0.1".into(), port: address.port() }).await;
        }
    }
}

async fn send(work: &Work, target: Target) -> Result<(), RpcError> {
    let mut client = Client::connect(&target, &quick()).await?;
    loop {
        let (all, batch) = {
            let waiting = work.waiting.lock().unwrap();
            let Some(first) = waiting.first().copied() else { return Ok(()) };
            let n = waiting.iter().zip(first..).take(7).take_while(|(number, next)| *number == next).count();
            (waiting.len(), numbered(first..first + n as u64))
        };
        assert!(all > 0);
        client.append_batch(&batch).await?;
        let done = numbers(&batch);
        work.waiting.lock().unwrap().retain(|number| !done.contains(number));
        work.acknowledged.lock().unwrap().extend(done);
    }
}

#[tokio::test]
async fn the_contract_of_sources_is_kept() {
    SourceSuite::new(Peer::new()).run().await;
}
