//! Contract suites that every component runs against itself, and scripted peers. For tests only.
//!
//! A suite panics with the rule that was broken and, where it makes things up, with the seed that shows it again. Those for
//! channels and interceptors use threads and a runtime of their own, and are called from a plain `#[test]`. Those for sinks
//! and sources are async, as what they talk to may need a runtime; they work under a paused clock too.

mod channel;
mod events;
mod interceptor;
mod scripted;
mod sink;
mod source;

pub use channel::ChannelSuite;
pub use events::{number_of, numbered, numbers};
pub use interceptor::InterceptorSuite;
pub use scripted::{Act, Once, ScriptedChannel, ScriptedSink, ScriptedSource, SinkLog, SourceAct, SourceLog};
pub use sink::{Alone, SinkPeer, SinkSuite};
pub use source::{Everywhere, SourcePeer, SourceSuite};

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Nothing that must happen takes longer; a suite that waits longer says what is stuck. The suites' own tests wait for what
/// never comes.
const LIMIT: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 20 });

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "stuck for {} s: {what}", LIMIT.as_secs());
        sleep(Duration::from_millis(2)).await;
    }
}

#[cfg(test)]
mod tests;
