//! The contract of sources: the peer is a program that puts files into a directory.

use super::*;
use flumen_core::{
    source::DynSource,
    testing::{SourcePeer, SourceSuite},
};
use std::{ops::Range, sync::Mutex};

struct Writer(Mutex<(Spooling, u64)>);

impl SourcePeer for Writer {
    fn source(&self) -> Box<dyn DynSource> {
        Box::new(self.0.lock().unwrap().0.source())
    }

    fn offer(&self, numbers: Range<u64>) {
        let text: String = numbers.map(|n| format!("{n}\n")).collect();
        let (spooling, n_files) = &mut *self.0.lock().unwrap();
        *n_files += 1;
        // Whole when it comes.
        spooling.write("new", text);
        let name = spooling.path(&format!("spool/{n_files:05}"));
        std::fs::rename(spooling.path("new"), name).unwrap();
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        None
    }

    fn offers_again(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn the_contract_of_sources_is_kept() {
    let spooling = Spooling::with(&[("pollDelay", "5"), ("maxBackoff", "10"), ("batchSize", "3")]);
    SourceSuite::new(Writer(Mutex::new((spooling, 0)))).run().await;
}
