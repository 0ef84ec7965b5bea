//! The program with one type more: a channel in which a panic happens while its lock is held, as a fault of ours would.

use flumen_channels::memory::{MemoryChannel, MemoryConfig};
use flumen_core::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction,
    },
    event::BatchSize,
    registry::{BuildContext, BuildError, ChannelContext, ChannelType},
};
use std::sync::Mutex;

/// Panics at the second take.
#[derive(Debug)]
struct Brittle {
    inner: MemoryChannel,
    takes: Mutex<u32>,
}

impl ChannelType for Brittle {
    const NAMES: &'static [&'static str] = &["brittle"];
    const SUMMARY: &'static str = "Breaks.";
    const LIVE_KEYS: &'static [&'static str] = &[];
    type Config = MemoryConfig;

    fn build(config: Self::Config, context: &ChannelContext) -> Result<Self, BuildError> {
        Ok(Self { inner: ChannelType::build(config, context)?, takes: Mutex::new(0) })
    }

    fn limits_of(config: &Self::Config, context: &BuildContext) -> ChannelLimits {
        config.limits(&context.environment)
    }
}

impl Channel for Brittle {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn limits(&self) -> ChannelLimits {
        self.inner.limits()
    }
    fn signals(&self) -> &Signals {
        self.inner.signals()
    }
    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        self.inner.try_put(size)
    }
    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let Ok(mut takes) = self.takes.lock() else {
            return Err(ChannelError::Broken { channel: self.name().into() });
        };
        let taken = self.inner.try_take(max_events)?;
        *takes += u32::from(taken.is_some());
        assert!(*takes < 2, "scripted");
        Ok(taken)
    }
    fn put_missed(&self, size: BatchSize) {
        self.inner.put_missed(size);
    }
    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        self.inner.reconfigure(limits)
    }
    fn depth(&self) -> ChannelDepth {
        self.inner.depth()
    }
    fn is_broken(&self) -> bool {
        self.takes.is_poisoned()
    }
    fn close(&self) {
        self.inner.close();
    }
}

fn main() -> std::process::ExitCode {
    flumen_agent::main(flumen_agent::registry().channel::<Brittle>())
}
