//! The contract of sinks, with one call and with several under way.

use super::*;
use flumen_core::testing::{SinkPeer, SinkSuite};

struct Peer {
    store: Arc<Store>,
    server: Server,
    context: SinkContext,
    max_in_flight: &'static str,
}

impl SinkPeer for Peer {
    fn sink(&self) -> Box<dyn DynSink> {
        Box::new(build(self.server.port, &[("max-in-flight", self.max_in_flight)], &self.context))
    }

    fn arrived(&self) -> Vec<u64> {
        self.store.numbers()
    }

    fn set_failing(&self, failing: bool) {
        self.store.refuses.store(failing, Ordering::SeqCst);
    }

    fn wake(&self) -> Arc<Signal> {
        self.context.wake.clone()
    }
}

#[tokio::test]
async fn the_contract_of_sinks_is_kept() {
    for max_in_flight in ["1", "8"] {
        let store = Arc::new(Store::default());
        let server = Server::start(&store, 0).await;
        SinkSuite::new(Peer { store, server, context: sink_context(0, false), max_in_flight }).run().await;
    }
}
