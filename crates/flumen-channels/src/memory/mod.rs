//! The memory channel: a bounded queue of whole batches. What is in it is lost when the process ends.

mod config;
mod store;
mod transaction;

pub use config::MemoryConfig;

use flumen_core::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction,
    },
    event::BatchSize,
    metrics::ChannelMetrics,
    registry::{BuildContext, BuildError, ChannelContext, ChannelType},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Store, TooLarge};
use transaction::{Lease, Room, join};

/// A channel in memory. One short lock for each operation on a batch, and no copy of a body.
#[derive(Debug)]
pub struct MemoryChannel(Arc<Shared>);

/// What the channel and its open transactions share.
#[derive(Debug)]
struct Shared {
    name: Arc<str>,
    store: Mutex<Store>,
    signals: Signals,
    metrics: Arc<ChannelMetrics>,
}

impl Shared {
    /// The store, unless a panic has left it half changed: its counts are then worth nothing, and the agent ends.
    fn store(&self) -> Result<MutexGuard<'_, Store>, ChannelError> {
        self.store.lock().map_err(|_| self.broken())
    }

    /// The store as it is, for reports and for the end.
    fn store_anyway(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&self) -> ChannelError {
        ChannelError::Broken { channel: self.name.clone() }
    }

    fn too_large(&self, refused: TooLarge) -> ChannelError {
        let TooLarge { asked, unit, limit_name, limit } = refused;
        ChannelError::TooLarge { channel: self.name.clone(), asked, unit, limit_name, limit }
    }

    fn closed(&self) -> ChannelError {
        ChannelError::Closed { channel: self.name.clone() }
    }
}

impl MemoryChannel {
    /// An empty channel.
    pub fn new(name: Arc<str>, limits: ChannelLimits, metrics: Arc<ChannelMetrics>) -> Self {
        let store = Mutex::new(Store::new(limits));
        Self(Arc::new(Shared { name, store, signals: Signals::default(), metrics }))
    }
}

impl Channel for MemoryChannel {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn limits(&self) -> ChannelLimits {
        self.0.store_anyway().limits()
    }

    fn signals(&self) -> &Signals {
        &self.0.signals
    }

    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        let shared = &self.0;
        let reserved = {
            let mut store = shared.store()?;
            if store.is_closed() {
                return Err(shared.closed());
            }
            store.reserve(size)
        };
        match reserved {
            Ok(false) => return Ok(None),
            Ok(true) => shared.metrics.put_attempt.add(u64::from(size.events)),
            Err(refused) => {
                shared.metrics.put_attempt.add(u64::from(size.events));
                return Err(shared.too_large(refused));
            }
        }
        Ok(Some(PutTransaction::new(Box::new(Room::new(shared.clone(), size)), size)))
    }

    fn put_missed(&self, size: BatchSize) {
        self.0.metrics.put_attempt.add(u64::from(size.events));
    }

    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let shared = &self.0;
        let taken = {
            let mut store = shared.store()?;
            if store.is_closed() {
                return Err(shared.closed());
            }
            store.take(max_events)
        };
        let (batch, size, spans) = match taken {
            Ok(pieces) if pieces.is_empty() => {
                shared.metrics.take_attempt.add(1);
                return Ok(None);
            }
            Ok(pieces) => join(pieces),
            Err(refused) => return Err(shared.too_large(refused)),
        };
        shared.metrics.take_attempt.add(u64::from(size.events));
        Ok(Some(TakeTransaction::new(Box::new(Lease::new(shared.clone(), size, spans)), batch)))
    }

    /// Always works: a limit below what is in the channel holds for new puts at once, and for all as soon as enough has
    /// been taken. Nothing is dropped.
    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        let over = {
            let mut store = self.0.store_anyway();
            store.set_limits(limits.clone());
            store.limits() != *limits
        };
        if over {
            tracing::warn!(
                channel = self.name(),
                capacity = limits.capacity,
                byte_slots = limits.byte_slots,
                "more is in the channel than the new limits allow: it takes nothing new until enough has left"
            );
        }
        self.0.signals.freed.raise();
        Ok(())
    }

    fn depth(&self) -> ChannelDepth {
        self.0.store_anyway().depth()
    }

    fn is_broken(&self) -> bool {
        self.0.store.is_poisoned()
    }

    fn close(&self) {
        self.0.store_anyway().close();
        self.0.signals.stored.raise();
        self.0.signals.freed.raise();
    }
}

impl ChannelType for MemoryChannel {
    const NAMES: &'static [&'static str] = &["memory", "org.apache.flume.channel.MemoryChannel"];
    const SUMMARY: &'static str = "Keeps events in memory: the fastest channel, and empty after a restart.";
    const LIVE_KEYS: &'static [&'static str] =
        &["capacity", "transactionCapacity", "byteCapacity", "byteCapacityBufferPercentage", "keep-alive"];
    type Config = MemoryConfig;

    fn build(config: MemoryConfig, context: &ChannelContext) -> Result<Self, BuildError> {
        let limits = config.limits(&context.common.environment);
        Ok(Self::new(context.common.name.clone(), limits, context.metrics.clone()))
    }

    fn limits_of(config: &MemoryConfig, context: &BuildContext) -> ChannelLimits {
        config.limits(&context.environment)
    }
}

#[cfg(test)]
mod tests;
