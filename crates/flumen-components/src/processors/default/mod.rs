//! The processor of a single sink, and of every sink without a group: always this one, with a growing pause after failures.

#[cfg(test)]
mod tests;

use super::pause::Pause;
use flumen_core::{
    group::{Outcome, SinkIndex, SinkProcessor},
    registry::{BuildContext, BuildError, SinkProcessorType},
};
use tokio::time::Instant;

/// See the module.
#[derive(Debug, Default)]
pub struct DefaultProcessor {
    pause: Pause,
}

impl DefaultProcessor {
    /// The processor of a sink without a group.
    pub fn new() -> Self {
        Self::default()
    }
}

impl SinkProcessorType for DefaultProcessor {
    const NAMES: &'static [&'static str] = &["default", "org.apache.flume.sink.DefaultSinkProcessor"];
    const SUMMARY: &'static str = "Serves a single sink; after a failure it waits 1 s, then 2 s, up to 5 s.";
    type Config = ();

    fn build(_config: (), sinks: &[String], _context: &BuildContext) -> Result<Self, BuildError> {
        match sinks {
            [_] => Ok(Self::new()),
            [] => Err(BuildError::new("processor `default` has no sink: name one in `sinks`")),
            _ => Err(BuildError::new(format!(
                "processor `default` serves one sink, and the group has {}: {}; use `failover` or `load_balance`, or leave \
                 the group away",
                sinks.len(),
                sinks.join(" ")
            ))),
        }
    }
}

impl SinkProcessor for DefaultProcessor {
    fn pick(&mut self, now: Instant) -> Result<SinkIndex, Instant> {
        match self.pause.end(now) {
            Some(end) => Err(end),
            None => Ok(SinkIndex(0)),
        }
    }

    fn report(&mut self, _sink: SinkIndex, outcome: Outcome, now: Instant) {
        match outcome {
            Outcome::Delivered => self.pause.forget(),
            Outcome::Failed | Outcome::Paused => self.pause.grow(now),
            // Nothing to take says nothing of the sink.
            Outcome::Idle => {}
        }
    }
}
