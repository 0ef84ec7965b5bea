//! The type that stands for the program in the plan of an embedded agent. Nothing runs: the program puts by itself.

use flumen_core::{
    processor::ChannelProcessor,
    registry::{BuildError, SourceContext, SourceType},
    source::{Shutdown, Source, SourceError},
};

/// See the module.
#[derive(Debug)]
pub(super) struct EmbeddedSource;

impl SourceType for EmbeddedSource {
    const NAMES: &'static [&'static str] = &["embedded", "org.apache.flume.agent.embedded.EmbeddedSource"];
    const SUMMARY: &'static str = "The program around an embedded agent.";
    type Config = ();

    fn build(_config: (), _context: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

impl Source for EmbeddedSource {
    async fn run(&mut self, _out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        shutdown.requested().await;
        Ok(())
    }
}
