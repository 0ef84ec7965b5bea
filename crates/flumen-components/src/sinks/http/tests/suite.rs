//! The contract of sinks.

use super::*;
use flumen_core::testing::{SinkPeer, SinkSuite};

struct Peer(Server);

impl SinkPeer for Peer {
    fn sink(&self) -> Box<dyn DynSink> {
        Box::new(sink(&self.0, &OK).0)
    }

    fn arrived(&self) -> Vec<u64> {
        self.0.script.bodies().iter().map(|body| body.parse().unwrap()).collect()
    }

    fn set_failing(&self, failing: bool) {
        self.0.script.failing.store(failing, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn the_contract_of_sinks_is_kept() {
    SinkSuite::new(Peer(Server::start().await)).run().await;
}
