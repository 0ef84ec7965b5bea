//! The settings of the memory channel, with Java Flume's defaults and its leniency.

use flumen_core::{
    channel::ChannelLimits,
    config::{Configuration, Property, View},
    event::SLOT_BYTES,
    registry::Environment,
};
use std::{num::NonZeroU32, time::Duration};

/// Java holds the number of slots in an int; a `byteCapacity` of less than one slot means this many.
const MAX_SLOTS: u64 = i32::MAX as u64;

/// The part of the memory that the bodies may take where `byteCapacity` is not set.
const DEFAULT_SHARE: f64 = 0.8;

/// Counted on where neither a Java heap limit nor the memory of the machine is known.
const UNKNOWN_MEMORY_BYTES: u64 = 1 << 30;

/// What the memory channel is told. `transactionCapacity` is never above `capacity`.
#[derive(Debug, Clone)]
pub struct MemoryConfig(Keys);

#[derive(Debug, Clone, Configuration)]
struct Keys {
    /// Events that fit, those under way to and from the channel included.
    #[property(default = "100", on_bad = default)]
    capacity: NonZeroU32,
    /// Events that a source may put or a sink may take at once; at most `capacity`.
    #[property(default = "100", on_bad = default)]
    transaction_capacity: NonZeroU32,
    /// Bytes of bodies that fit, less `byteCapacityBufferPercentage`. Each body counts in slots of 100 bytes, at least one
    /// slot. 0 means 2147483647 slots. By default 80 % of the Java heap limit (`-Xmx` in `JAVA_OPTS`) where one is set;
    /// else 80 % of the limit of the control group or of half of the machine's memory, whichever is less.
    #[property(on_bad = default)]
    byte_capacity: Option<i64>,
    /// Percentage of `byteCapacity` that is left for headers, which are not counted.
    #[property(default = "20", on_bad = default)]
    byte_capacity_buffer_percentage: i32,
    /// Seconds that a put waits for room.
    #[property(key = "keep-alive", default = "3", on_bad = default)]
    keep_alive: i32,
}

impl Configuration for MemoryConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let keys = Keys::read(view)?;
        let (capacity, most) = (keys.capacity, keys.transaction_capacity);
        if most > capacity {
            let what = format!(
                "{most} events a transaction are more than `capacity` ({capacity}); lower it, or raise `capacity`"
            );
            view.error("transactionCapacity", what);
            return None;
        }
        if keys.keep_alive < 0 {
            // As Java's semaphores take it.
            let what = format!("`{}` is below 0 and means 0: a put does not wait for room", keys.keep_alive);
            view.warn("keep-alive", what);
        }
        keys.tell_of_little_room(view);
        Some(Self(keys))
    }
}

impl Keys {
    /// Says where `byteCapacity` has no room for the events that the other keys promise.
    fn tell_of_little_room(&self, view: &mut View<'_>) {
        let Some(bytes) = self.byte_capacity else { return };
        let percentage = self.byte_capacity_buffer_percentage;
        let what = match (slots(bytes, percentage), self.transaction_capacity.get()) {
            (MAX_SLOTS, _) if (1..1_000_000).contains(&bytes) => {
                format!(
                    "{bytes} less {percentage} % is not one slot of 100 bytes, and so means no limit, as in Java"
                )
            }
            (slots, most) if slots < u64::from(most) => format!(
                "{bytes} less {percentage} % are {slots} slots of 100 bytes, and each event takes one at least: a \
                 transaction of `transactionCapacity` ({most}) events never fits"
            ),
            _ => return,
        };
        view.warn("byteCapacity", what);
    }
}

impl MemoryConfig {
    /// The limits that the settings mean on this machine.
    pub fn limits(&self, environment: &Environment) -> ChannelLimits {
        let keys = &self.0;
        ChannelLimits {
            capacity: u64::from(keys.capacity.get()),
            transaction_capacity: keys.transaction_capacity.get(),
            byte_slots: Some(slots(
                keys.byte_capacity.unwrap_or_else(|| default_bytes(environment)),
                keys.byte_capacity_buffer_percentage,
            )),
            keep_alive: Duration::from_secs(u64::try_from(keys.keep_alive).unwrap_or(0)),
        }
    }
}

fn default_bytes(environment: &Environment) -> i64 {
    let memory = environment.max_heap_bytes.or(environment.memory_bytes).unwrap_or(UNKNOWN_MEMORY_BYTES);
    (memory as f64 * DEFAULT_SHARE) as i64
}

/// Java's formula, in Java's floating point: `(int) (bytes * (1 - percentage * .01) / 100)`, and less than 1 is the most.
fn slots(bytes: i64, buffer_percentage: i32) -> u64 {
    let usable = bytes as f64 * (1.0 - f64::from(buffer_percentage) * 0.01);
    match (usable / SLOT_BYTES as f64) as i32 {
        slots @ 1.. => u64::from(slots.unsigned_abs()),
        _ => MAX_SLOTS,
    }
}
