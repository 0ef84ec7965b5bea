//! What happens to an agent from outside, by chance and in order.

use fastrand::Rng;

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// The flow goes on for so many milliseconds.
    Wait(u32),
    /// The file is changed, by the chance of this number, and read again.
    Reload(u64),
    /// The agent is stopped in order, with so many seconds to drain, and started again.
    Restart(u32),
    /// The process is gone at once, and started again.
    Crash,
    /// All sinks fail for so many milliseconds.
    Storm(u32),
}

/// Between three and fourteen things.
pub(crate) fn some(rng: &mut Rng) -> Vec<Op> {
    (0..rng.usize(3..15))
        .map(|_| match rng.u8(..12) {
            0..5 => Op::Wait(rng.u32(1..20_000)),
            5..9 => Op::Reload(rng.u64(..)),
            9 => Op::Restart(rng.u32(..30)),
            10 => Op::Crash,
            _ => Op::Storm(rng.u32(1..60_000)),
        })
        .collect()
}
