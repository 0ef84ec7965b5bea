//! Time zones as a JDK's `java.util.TimeZone` has them, from the tz database that is built into the program.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::zone_id::{ZoneId, classify};
use super::zone_table::{Step, steps_of};

/// 1900-01-01T00:00Z. A JDK has no transitions before it and uses the zone's present standard offset there.
pub(crate) const FIRST_MS: i64 = -2_208_988_800_000;
/// From here on (2438-01-01T00:00Z) a time is looked up whole cycles of 400 years earlier.
pub(crate) const REPEAT_MS: i64 = 14_768_524_800_000;
/// 2037-01-01T00:00Z, the last year of the zones' tables.
const LAST_YEAR_MS: i64 = 2_114_380_800_000;
const CYCLE_MS: i64 = 146_097 * 86_400_000;

/// What a zone adds to UTC at an instant, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Offset {
    /// Standard time's part.
    pub standard_ms: i32,
    /// Summer time's part; 0 outside of it.
    pub summer_ms: i32,
}

impl Offset {
    /// Wall clock minus UTC.
    pub fn total_ms(self) -> i32 {
        self.standard_ms + self.summer_ms
    }

    pub(crate) fn fixed(standard_ms: i32) -> Self {
        Self { standard_ms, summer_ms: 0 }
    }
}

/// A time zone by its Java id. Cheap to clone; zones are built once a process.
#[derive(Clone, Debug)]
pub struct Zone(Arc<Table>);

#[derive(Debug)]
struct Table {
    id: String,
    /// Offset before the first step: local mean time.
    first: i32,
    steps: Vec<Step>,
    /// Standard offset that the zone has at present.
    raw: i32,
    /// What the zone's summer time rule adds; 0 for zones that have none any more.
    savings: i32,
}

impl Zone {
    /// The zone of a Java id: ids of the tz database (with case), the short ids of JDK 1.1 (`PST`), and `GMT+5:30`.
    /// As in Java an unknown id is GMT; [`Zone::find`] tells it apart.
    pub fn of_id(id: &str) -> Self {
        Self::find(id).unwrap_or_else(|| {
            Self(Arc::new(Table { id: "GMT".to_owned(), first: 0, steps: Vec::new(), raw: 0, savings: 0 }))
        })
    }

    /// Like [`Zone::of_id`], but nothing for an id that Java does not know and silently takes for GMT.
    pub fn find(id: &str) -> Option<Self> {
        // At most the ids of the database and the offsets of a day in minutes can get in here.
        static KNOWN: LazyLock<Mutex<HashMap<String, Zone>>> = LazyLock::new(Mutex::default);
        let known = |id: &str| KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if let Some(zone) = known(id) {
            return Some(zone);
        }
        let zone = Self(Arc::new(Self::build(id)?));
        // Other spellings of an offset (`GMT+5`) are not kept.
        if zone.id() == id {
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), zone.clone());
        }
        Some(zone)
    }

    /// UTC.
    pub fn utc() -> Self {
        Self::of_id("UTC")
    }

    /// The zone that the machine is set to (`TZ`, else `/etc/localtime`), as a JVM finds it; UTC if it cannot be found.
    pub fn system() -> Self {
        let id = Self::linked_id().or_else(|| TimeZone::try_system().ok()?.iana_name().map(str::to_owned));
        id.map_or_else(Self::utc, |id| Self::of_id(&id))
    }

    /// The zone that `/etc/localtime` links to, where `TZ` says nothing: mostly so, and then nobody need look through all zones
    /// of the machine, which takes longer than the rest of a start.
    #[expect(clippy::disallowed_methods, reason = "the machine's zone is what it is asked for")]
    fn linked_id() -> Option<String> {
        if std::env::var_os("TZ").is_some() {
            return None;
        }
        let target = std::fs::read_link("/etc/localtime").ok()?;
        let id = zone_of_link(target.to_str()?)?;
        Self::find(id).map(|_| id.to_owned())
    }

    /// The id as Java gives it back: `GMT+05:30` for `GMT+5:30`, `GMT` for one that is unknown.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Standard offset of the present, in milliseconds.
    pub fn raw_offset_ms(&self) -> i32 {
        self.0.raw
    }

    /// What summer time adds by the rule in force, in milliseconds; 0 where there is none.
    pub fn summer_savings_ms(&self) -> i32 {
        self.0.savings
    }

    /// Offset at an instant (milliseconds since 1970) as a JDK has it: before 1900 always the present standard offset.
    pub fn at(&self, millis: i64) -> Offset {
        let table = &*self.0;
        if millis < FIRST_MS || table.steps.is_empty() {
            return Offset::fixed(table.raw);
        }
        let millis = folded(millis);
        let next = table.steps.partition_point(|step| step.at_ms <= millis);
        if next == 0 { Offset::fixed(table.first) } else { table.steps[next - 1].offset }
    }

    /// Offset for a wall clock reading (milliseconds since 1970-01-01T00:00 on that clock), as Java's calendar chooses:
    /// a reading that occurs twice is the later one, one that is skipped is moved forward.
    pub fn at_wall(&self, wall: i64) -> Offset {
        let table = &*self.0;
        let at_first = self.at(FIRST_MS);
        if table.steps.is_empty() || wall < FIRST_MS + i64::from(at_first.total_ms()) {
            return Offset::fixed(table.raw);
        }
        let wall = folded(wall);
        let next = table.steps.partition_point(|step| step.wall_ms() <= wall);
        match next.checked_sub(1).map(|last| table.steps[last]) {
            Some(step) if step.at_ms >= FIRST_MS => step.offset,
            _ => at_first,
        }
    }

    /// Offset at an instant with all of the zone's history (local mean time before the first step), in milliseconds.
    pub(crate) fn historic_at(&self, millis: i64) -> i32 {
        let millis = folded(millis);
        let next = self.0.steps.partition_point(|step| step.at_ms <= millis);
        if next == 0 { self.0.first } else { self.0.steps[next - 1].offset.total_ms() }
    }

    /// The instant of a wall clock reading with all of the zone's history: the earlier one if there are two, nothing if
    /// the reading is skipped.
    pub(crate) fn historic_instant(&self, wall: i64) -> Option<i64> {
        // Both sides of any step near the reading give a candidate; offsets are below a day.
        let mut candidates = [self.historic_at(wall - 86_400_000), self.historic_at(wall + 86_400_000)];
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        candidates.into_iter().find_map(|offset| {
            let instant = wall.checked_sub(i64::from(offset))?;
            (self.historic_at(instant) == offset).then_some(instant)
        })
    }

    fn build(id: &str) -> Option<Table> {
        let fixed = |id: String, raw: i32| Table { id, first: raw, steps: Vec::new(), raw, savings: 0 };
        let named = match classify(id) {
            ZoneId::Fixed(raw) => return Some(fixed(id.to_owned(), raw)),
            ZoneId::Custom(id, raw) => return Some(fixed(id, raw)),
            ZoneId::Posix(rule) => TimeZone::posix(rule).ok()?,
            ZoneId::Named(name) => {
                // The database ignores case, Java does not.
                static BUILT_IN: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
                BUILT_IN.get(name).ok().filter(|zone| zone.iana_name() == Some(name))?
            }
        };
        let (first, steps) = steps_of(&named);
        let raw = steps.last().map_or(first, |step| step.offset.standard_ms);
        // What is left in 2037 is a rule, not history.
        let recent = steps.iter().rev().take_while(|step| step.at_ms > LAST_YEAR_MS);
        let savings = recent.map(|step| step.offset.summer_ms).max().unwrap_or(0);
        Some(Table { id: id.to_owned(), first, steps, raw, savings })
    }
}

/// The id at the end of a path into a tz database.
fn zone_of_link(target: &str) -> Option<&str> {
    let (_, id) = target.split_once("/zoneinfo/")?;
    Some(id.strip_prefix("posix/").unwrap_or(id)).filter(|id| !id.starts_with("right/"))
}

fn folded(millis: i64) -> i64 {
    if millis < REPEAT_MS { millis } else { millis - ((millis - REPEAT_MS) / CYCLE_MS + 1) * CYCLE_MS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_localtime_names_the_zone() {
        for (target, id) in [
            ("/usr/share/zoneinfo/Europe/Berlin", Some("Europe/Berlin")),
            ("../usr/share/zoneinfo/Etc/UTC", Some("Etc/UTC")),
            ("/usr/share/zoneinfo/posix/Asia/Tokyo", Some("Asia/Tokyo")),
            ("/usr/share/zoneinfo/right/Asia/Tokyo", None),
            ("/etc/my-zone", None),
        ] {
            assert_eq!(zone_of_link(target), id, "{target}");
        }
    }

    #[test]
    fn the_zone_of_the_machine_is_one_that_is_known() {
        let zone = Zone::system();
        assert!(Zone::find(zone.id()).is_some());
        if let Some(id) = Zone::linked_id() {
            assert_eq!(zone.id(), id);
        }
    }
}
