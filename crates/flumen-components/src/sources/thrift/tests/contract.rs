//! The contract of sources.

use super::*;
use flumen_core::{
    source::DynSource,
    testing::{SourcePeer, SourceSuite, numbered},
};
use std::{ops::Range, sync::Mutex};
use tokio::time::interval;

/// A client that sends each batch until it is answered with OK, in order.
#[derive(Debug, Default)]
struct Sender {
    address: Arc<Mutex<Option<watch::Receiver<Option<SocketAddr>>>>>,
    acknowledged: Arc<Mutex<Vec<u64>>>,
    queue: Arc<Mutex<Vec<Range<u64>>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl SourcePeer for Sender {
    fn source(&self) -> Box<dyn DynSource> {
        let source = ThriftSource::build(config(&[]).0.unwrap(), &source_context()).unwrap();
        *self.address.lock().unwrap() = Some(source.address());
        Box::new(source)
    }

    fn offer(&self, numbers: Range<u64>) {
        self.queue.lock().unwrap().push(numbers);
        let (address, acknowledged, queue) =
            (self.address.clone(), self.acknowledged.clone(), self.queue.clone());
        let mut tasks = self.tasks.lock().unwrap();
        if !tasks.is_empty() {
            return;
        }
        tasks.spawn(async move {
            let mut pace = interval(Duration::from_millis(1));
            loop {
                pace.tick().await;
                let next = queue.lock().unwrap().first().cloned();
                let at = address.lock().unwrap().as_ref().and_then(|address| *address.borrow());
                let (Some(numbers), Some(at)) = (next, at) else { continue };
                if send(at, numbers.clone()).await {
                    acknowledged.lock().unwrap().extend(numbers);
                    queue.lock().unwrap().remove(0);
                }
            }
        });
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        Some(self.acknowledged.lock().unwrap().clone())
    }

    fn offers_again(&self) -> bool {
        true
    }
}

async fn send(address: SocketAddr, numbers: Range<u64>) -> bool {
    let target = Target { host: address.ip().to_string().into(), port: address.port() };
    let Ok(stream) = dial(&target, None, LIMIT).await else { return false };
    let batch = numbered(numbers);
    Connection::new(stream, Protocol::Compact).append_batch(&batch, 0..batch.len()).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_source_keeps_its_contract() {
    SourceSuite::new(Sender::default()).run().await;
}
