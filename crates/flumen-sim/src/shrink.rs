//! The shortest way to a failure that a seed has: what happens is left out, one thing after the other, as long as it fails.

use crate::{
    ops::Op,
    run::{Failure, ops_of, run_ops},
};

/// The shortest failing run of a seed that is found, with what happens in it. `None`: the seed does not fail.
pub fn shortest(seed: u64) -> Option<(String, Failure)> {
    let mut ops = ops_of(seed);
    let mut failure = run_ops(seed, &ops).err()?;
    let mut at = 0;
    while at < ops.len() {
        let mut fewer = ops.clone();
        fewer.remove(at);
        match run_ops(seed, &fewer) {
            Err(shorter) => (ops, failure) = (fewer, shorter),
            Ok(_) => at += 1,
        }
    }
    // Waits by half, for a trace that can be read.
    for at in 0..ops.len() {
        while let Op::Wait(ms @ 2..) = ops[at] {
            let mut shorter_ops = ops.clone();
            shorter_ops[at] = Op::Wait(ms / 2);
            let Err(shorter) = run_ops(seed, &shorter_ops) else { break };
            (ops, failure) = (shorter_ops, shorter);
        }
    }
    Some((format!("{ops:?}"), failure))
}
