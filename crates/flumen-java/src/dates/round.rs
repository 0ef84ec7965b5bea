//! Rounds an instant down on the wall clock of a zone, as the HDFS sink's `hdfs.round` does.

use super::calendar::{DAY_MS, EPOCH_DAY, Moment};
use super::zone::Zone;

/// What is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundUnit {
    /// `second`
    Second,
    /// `minute`
    Minute,
    /// `hour`
    Hour,
}

/// Unit and value of `roundUnit` and `roundValue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounding {
    unit: RoundUnit,
    value: u32,
}

/// The value does not go with the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("round value {value} is out of range: 1 to {most} for this unit")]
pub struct RoundingError {
    /// What was asked for.
    pub value: u32,
    /// The largest value of the unit.
    pub most: u32,
}

impl Rounding {
    /// Seconds and minutes take 1 to 60, hours 1 to 24.
    pub fn new(unit: RoundUnit, value: u32) -> Result<Self, RoundingError> {
        let most = if unit == RoundUnit::Hour { 24 } else { 60 };
        if (1..=most).contains(&value) {
            Ok(Self { unit, value })
        } else {
            Err(RoundingError { value, most })
        }
    }

    /// The field becomes a multiple of the value and everything smaller 0. As in Java the result is looked up anew on the
    /// wall clock: in an hour that occurs twice it is in the second one, which can be later than `millis`.
    pub fn down(self, millis: i64, zone: &Zone) -> i64 {
        let moment = Moment::new(millis, zone);
        let seconds = moment.ms_of_day / 1000;
        let unit = match self.unit {
            RoundUnit::Second => 1,
            RoundUnit::Minute => 60,
            RoundUnit::Hour => 3600,
        };
        // The field starts anew with each larger unit: 45 minutes are 0 and 45 of every hour.
        let field = seconds / unit % if self.unit == RoundUnit::Hour { 24 } else { 60 };
        let rounded = seconds - seconds % unit - field % self.value * unit;
        let wall = (moment.day - EPOCH_DAY).saturating_mul(DAY_MS).saturating_add(i64::from(rounded) * 1000);
        wall.saturating_sub(i64::from(zone.at_wall(wall).total_ms()))
    }
}
