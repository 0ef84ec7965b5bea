//! What is durable, told by the syncs that have worked and nothing else: no record may claim more.

use crate::{committer::Job, record};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Durable {
    /// All records up to this write-order id are durable.
    up_to: u64,
    /// Those above it that are.
    above: BTreeSet<u64>,
    /// Write-order ids of the parts that are being written.
    written: BTreeMap<(u64, usize), Vec<u64>>,
}

impl Durable {
    /// Up to `order` everything is, as recovery has seen to it.
    pub(super) fn from(order: u64) -> Self {
        Self { up_to: order, ..Self::default() }
    }

    /// Looks at what is about to be written.
    pub(super) fn begins(&mut self, job: &Job) -> Result<(), String> {
        let Job::Write { buffers, parts, .. } = job else { return Ok(()) };
        for (buffer, part) in buffers.iter().zip(parts) {
            let mut orders = Vec::new();
            let mut rest = &buffer[..];
            while let Some(len) = rest.first_chunk::<5>().map(|head| 5 + be(&head[1..])) {
                if rest[0] == record::OP_NOOP {
                    rest = &rest[len..];
                    continue;
                }
                let record = record::check(&rest[..len]).map_err(|damage| format!("written: {damage:?}"))?;
                rest = &rest[len..];
                orders.push(record.stamp.order);
                if let Some(watermark) = record.footer.watermark.filter(|watermark| *watermark > self.up_to) {
                    return Err(format!("a watermark says {watermark}, and {} is durable", self.up_to));
                }
            }
            self.written.insert(*part, orders);
        }
        Ok(())
    }

    /// These parts are synced.
    pub(super) fn ended(&mut self, parts: &[(u64, usize)]) {
        for part in parts {
            self.above.extend(self.written.remove(part).unwrap_or_default());
        }
        while self.above.remove(&(self.up_to + 1)) {
            self.up_to += 1;
        }
    }
}

fn be(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
