//! The contract of sources: the peer is a program that writes lines into a file, and positions are what was acknowledged.

use super::*;
use flumen_core::{
    source::DynSource,
    testing::{SourcePeer, SourceSuite},
};
use std::{ops::Range, sync::Mutex};

struct Writer(Mutex<Tail>);

impl SourcePeer for Writer {
    fn source(&self) -> Box<dyn DynSource> {
        Box::new(self.0.lock().unwrap().source())
    }

    fn offer(&self, numbers: Range<u64>) {
        let text: String = numbers.map(|n| format!("{n}\n")).collect();
        self.0.lock().unwrap().write("web/a.log", text);
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
    let mut tail = Tail::new();
    tail.set("backoffSleepIncrement", "5");
    tail.set("writePosInterval", "1");
    SourceSuite::new(Writer(Mutex::new(tail))).run().await;
}
