//! Everything is taken; the settings are checked.

use super::*;
use crate::testing::{batch_of, sink_context};
use flumen_core::config::{Settings, read};

fn config(pairs: &[(&str, &str)]) -> Option<NullConfig> {
    read::<NullConfig>(&Settings::from_pairs("a.sinks.k", pairs), &[]).0
}

#[test]
fn all_of_a_batch_is_done_and_counted() {
    let mut sink =
        NullSink::build(config(&[("logEveryNEvents", "2")]).unwrap(), &sink_context(0, false)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for _ in 0..2 {
        let batch = batch_of(&["a", "b", "c"]);
        assert_eq!(runtime.block_on(sink.deliver(&batch)).unwrap(), Delivery::all(&batch));
    }
    assert_eq!(sink.n_events, 6);
}

#[test]
fn defaults_are_javas_and_sizes_below_one_are_refused() {
    let defaults = config(&[]).unwrap();
    assert_eq!((defaults.batch_size, defaults.log_every_n_events), (100, 10_000));
    assert_eq!(NullSink::facts(&defaults).batch_size, Some(100));
    assert!(config(&[("batchSize", "0")]).is_none());
    assert!(config(&[("logEveryNEvents", "0")]).is_none());
}
