//! Numbers with a unit or a meaning: times, sizes, ports.

use std::time::Duration;

use super::numbers::{forgive_remark, whole};
use super::property::PropertyValue;

/// Longer waits are cut to this (100 years), so that adding one to a point in time cannot overflow.
const LONGEST_S: u64 = 100 * 365 * 24 * 60 * 60;

/// A time in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

/// A time in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds(pub u64);

/// A size in bytes, written as a plain number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A port that a peer can be reached at: 1 to 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// A port to listen on: 0 lets the system choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyPort(pub u16);

impl Millis {
    /// The time, at most 100 years.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0.min(LONGEST_S * 1000))
    }
}

impl Seconds {
    /// The time, at most 100 years.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.min(LONGEST_S))
    }
}

impl From<Millis> for Duration {
    fn from(time: Millis) -> Self {
        time.duration()
    }
}

impl From<Seconds> for Duration {
    fn from(time: Seconds) -> Self {
        time.duration()
    }
}

/// Units are plain numbers in the file, so that only their kind and limits differ.
macro_rules! unit {
    ($type:ident($plain:ty), $kind:literal, $least:literal..=$most:expr) => {
        impl PropertyValue for $type {
            const KIND: &'static str = $kind;

            fn parse(text: &str) -> Result<Self, String> {
                let number = whole(text, $least, i128::from($most))?;
                <$plain>::try_from(number).map($type).map_err(|error| error.to_string())
            }

            fn forgive(text: &str) -> Option<(Self, String)> {
                forgive_remark(text)
            }
        }
    };
}
// Java holds these in a long.
unit!(Millis(u64), "milliseconds", 0..=i64::MAX);
unit!(Seconds(u64), "seconds", 0..=i64::MAX);
unit!(Bytes(u64), "bytes", 0..=i64::MAX);
unit!(Port(u16), "a port", 1..=u16::MAX);
unit!(AnyPort(u16), "a port or 0", 0..=u16::MAX);
