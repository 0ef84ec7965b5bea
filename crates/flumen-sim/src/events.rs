//! What an event looks like follows from its number, and where it must go from that and the rules of its source.

use flumen_core::event::{Batch, Event, Headers};
use std::collections::BTreeSet;

/// Values of the header `to`; an event with the last one has no such header.
const TO: [&str; 4] = ["x", "y", "z", ""];

/// Every so many events one is thrown away by the filter, where there is one.
const DROPPED: u64 = 7;

/// The value of the header `to`, or nothing.
fn to(number: u64) -> &'static str {
    TO[usize::try_from(number % 5 % 4).unwrap_or(0)]
}

/// Events with these numbers.
pub(crate) fn batch(numbers: &[u64]) -> Batch {
    let mut batch = Batch::with_capacity(numbers.len());
    for &number in numbers {
        let kind = if number.is_multiple_of(DROPPED) { "drop" } else { "keep" };
        let headers: Headers = match to(number) {
            "" => Headers::new(),
            to => [("to", to)].into_iter().collect(),
        };
        batch.push(
            headers,
            format!("{number} {kind} {}", "x".repeat(usize::try_from(number % 50).unwrap_or(0))),
        );
    }
    batch
}

/// The number of an event, or what is wrong with it.
pub(crate) fn number(event: Event<'_>) -> Result<u64, String> {
    let body = String::from_utf8_lossy(event.body);
    let number = body.split(' ').next().and_then(|digits| digits.parse().ok());
    let number: u64 = number.ok_or_else(|| format!("an event from nowhere: `{body}`"))?;
    let due = batch(&[number]);
    let due = due.iter().next().map(|due| (due.body.to_vec(), header(due)));
    if due != Some((event.body.to_vec(), header(event))) {
        return Err(format!("event {number} is not as it was sent: `{body}`, to={:?}", header(event)));
    }
    Ok(number)
}

fn header(event: Event<'_>) -> Option<String> {
    event.headers.get("to").map(|to| to.to_string())
}

/// How a source chooses channels: what its configuration says, in the words of a check of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selector {
    /// All of these, but those in the second list only if they have room.
    Replicating(Vec<usize>, Vec<usize>),
    /// For each value of `TO` (but the last) its channels; the default for all others; and channels that are optional for `x`.
    Multiplexing { mapping: [Vec<usize>; 3], default: Vec<usize>, optional_x: Vec<usize> },
    /// One of these.
    Balancing(Vec<usize>),
}

/// What a source does with its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) selector: Selector,
    /// Whether every seventh event is thrown away.
    pub(crate) filters: bool,
}

/// Where an event must and may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// All of these must get it.
    pub(crate) required: BTreeSet<usize>,
    /// These may.
    pub(crate) optional: BTreeSet<usize>,
    /// Exactly one of these must.
    pub(crate) one_of: BTreeSet<usize>,
}

impl Rules {
    /// Where the event with this number goes.
    pub(crate) fn way(&self, number: u64) -> Way {
        if self.filters && number.is_multiple_of(DROPPED) {
            return Way::default();
        }
        let set = |channels: &[usize]| channels.iter().copied().collect::<BTreeSet<_>>();
        match &self.selector {
            Selector::Replicating(channels, optional) => {
                let optional = set(optional);
                Way { required: &set(channels) - &optional, optional, ..Way::default() }
            }
            Selector::Multiplexing { mapping, default, optional_x } => {
                let at = TO[..3].iter().position(|value| *value == to(number));
                let mapped = at.map(|at| &mapping[at]).filter(|mapped| !mapped.is_empty());
                let required = set(mapped.unwrap_or(default));
                let optional = if at == Some(0) { &set(optional_x) - &required } else { BTreeSet::new() };
                Way { required, optional, ..Way::default() }
            }
            Selector::Balancing(channels) => Way { one_of: set(channels), ..Way::default() },
        }
    }

    /// The lines of a source's configuration that say the same.
    pub(crate) fn text(&self, source: &str) -> String {
        let words =
            |channels: &[usize]| channels.iter().map(|n| format!("c{n}")).collect::<Vec<_>>().join(" ");
        let mut lines = match &self.selector {
            Selector::Replicating(channels, optional) => {
                let optional = match optional.is_empty() {
                    true => String::new(),
                    false => format!("{source}.selector.optional = {}\n", words(optional)),
                };
                format!("{source}.channels = {}\n{optional}", words(channels))
            }
            Selector::Multiplexing { mapping, default, optional_x } => {
                let all: BTreeSet<usize> =
                    mapping.iter().chain([default, optional_x]).flatten().copied().collect();
                let all: Vec<usize> = all.into_iter().collect();
                let mut lines = format!(
                    "{source}.channels = {}\n{source}.selector.type = multiplexing\n{source}.selector.header = to\n",
                    words(&all)
                );
                let mapped =
                    mapping.iter().zip(TO).map(|(channels, value)| (format!("mapping.{value}"), channels));
                let rest = [("default".to_owned(), default), ("optional.x".to_owned(), optional_x)];
                for (key, channels) in mapped.chain(rest).filter(|(_, channels)| !channels.is_empty()) {
                    lines += &format!("{source}.selector.{key} = {}\n", words(channels));
                }
                lines
            }
            Selector::Balancing(channels) => {
                format!("{source}.channels = {}\n{source}.selector.type = load_balancing\n", words(channels))
            }
        };
        if self.filters {
            let filter = format!("{source}.interceptors.f");
            lines += &format!(
                "{source}.interceptors = f\n{filter}.type = regex_filter\n{filter}.regex = ^[0-9]+ drop\n\
                 {filter}.excludeEvents = true\n"
            );
        }
        lines
    }
}
