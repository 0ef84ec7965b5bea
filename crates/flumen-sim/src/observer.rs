//! Hears of every put, acknowledgement and delivery, and says what must never be.

use crate::events::{Rules, Way};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::time::Instant;

/// Lines of a trace that are kept.
const MOST_LINES: usize = 20_000;

/// The observers of all runs that are under way, by number.
static ALL: Mutex<BTreeMap<u64, Arc<Observer>>> = Mutex::new(BTreeMap::new());

/// The observer that a configuration names.
///
/// # Panics
/// There is none: a scripted component lives only in a run.
pub(crate) fn observer(world: u64) -> Arc<Observer> {
    lock(&ALL).get(&world).cloned().unwrap_or_else(|| panic!("world {world} is over"))
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Observer(Mutex<Seen>);

/// What an observer knows.
#[derive(Debug)]
struct Seen {
    rng: fastrand::Rng,
    started: Instant,
    rules: Vec<Rules>,
    events: Vec<Known>,
    /// For each source and channel the last event that was handed to a sink for the first time.
    last_handed: BTreeMap<(Arc<str>, usize), u64>,
    /// The same for the last that has arrived.
    last_arrived: BTreeMap<(Arc<str>, usize), u64>,
    /// Channels of which several runners take.
    shared: BTreeSet<usize>,
    /// Channels of which several sinks take: one may hold what comes before that which another delivers.
    grouped: BTreeSet<usize>,
    over: bool,
    /// Sources that have put something after all got well.
    well: BTreeSet<Arc<str>>,
    storm_until: Option<Instant>,
    problem: Option<String>,
    trace: Vec<String>,
    /// Events that sources have handed on, and acknowledged ones, since the agent was started.
    received: u64,
    accepted: u64,
}

/// What is known of an event.
#[derive(Debug)]
struct Known {
    source: Arc<str>,
    way: Way,
    acknowledged: bool,
    /// It was in memory when the agent ended: nobody is owed it any more.
    forgiven: bool,
    /// Its place in the order is not known.
    unordered: bool,
    /// For each channel, how often it was handed to a sink, has arrived, and may have arrived without anybody knowing.
    by_channel: BTreeMap<usize, (u32, u32, u32)>,
}

impl Known {
    fn arrived(&self, channel: usize) -> bool {
        self.by_channel.get(&channel).is_some_and(|(_, arrived, _)| *arrived > 0)
    }

    /// Channels from which it is still owed; for one of several, the first stands for all.
    fn owed(&self) -> Vec<usize> {
        if !self.acknowledged || self.forgiven {
            return Vec::new();
        }
        let mut owed: Vec<usize> =
            self.way.required.iter().copied().filter(|channel| !self.arrived(*channel)).collect();
        if !self.way.one_of.iter().any(|channel| self.arrived(*channel)) {
            owed.extend(self.way.one_of.first());
        }
        owed
    }
}

impl Observer {
    /// Has itself found under a number until the guard is dropped.
    pub(crate) fn enter(world: u64, rng: fastrand::Rng) -> (Arc<Self>, Guard) {
        let observer = Arc::new(Self(Mutex::new(Seen {
            rng,
            started: Instant::now(),
            rules: Vec::new(),
            events: Vec::new(),
            last_handed: BTreeMap::new(),
            last_arrived: BTreeMap::new(),
            shared: BTreeSet::new(),
            grouped: BTreeSet::new(),
            over: false,
            well: BTreeSet::new(),
            storm_until: None,
            problem: None,
            trace: Vec::new(),
            received: 0,
            accepted: 0,
        })));
        lock(&ALL).insert(world, observer.clone());
        (observer, Guard(world))
    }

    /// A number below `n`, by the chance of the run.
    pub(crate) fn chance(&self, n: u64) -> u64 {
        lock(&self.0).rng.u64(..n.max(1))
    }

    /// The number of these rules.
    pub(crate) fn number_of(&self, rules: &Rules) -> usize {
        let mut seen = lock(&self.0);
        if let Some(known) = seen.rules.iter().position(|known| known == rules) {
            return known;
        }
        seen.rules.push(rules.clone());
        seen.rules.len() - 1
    }

    /// Notes what happens, for the trace.
    pub(crate) fn note(&self, what: &str) {
        lock(&self.0).note(what);
    }

    /// Notes what must not be. Only the first counts: the others may follow from it.
    pub(crate) fn problem(&self, what: String) {
        lock(&self.0).fault(what);
    }

    /// The first thing that must not be, and all that had happened.
    pub(crate) fn verdict(&self) -> Option<(String, Vec<String>)> {
        let mut seen = lock(&self.0);
        let problem = seen.problem.clone()?;
        Some((problem, std::mem::take(&mut seen.trace)))
    }

    /// Whether something is wrong already.
    pub(crate) fn is_wrong(&self) -> bool {
        lock(&self.0).problem.is_some()
    }

    /// An event as it was read from a batch.
    pub(crate) fn read(&self, number: Result<u64, String>) -> Option<u64> {
        let mut seen = lock(&self.0);
        match number {
            Ok(number) if usize::try_from(number).is_ok_and(|n| n < seen.events.len()) => Some(number),
            Ok(number) => {
                seen.fault(format!("an event from nowhere: {number}"));
                None
            }
            Err(what) => {
                seen.fault(what);
                None
            }
        }
    }

    /// A source begins to put so many events, which get their numbers here.
    pub(crate) fn begin_put(&self, source: &Arc<str>, rules: usize, n_events: u64) -> Vec<u64> {
        let mut seen = lock(&self.0);
        let first = seen.events.len() as u64;
        let numbers: Vec<u64> = (first..first + n_events).collect();
        for &number in &numbers {
            let way = seen.rules[rules].way(number);
            seen.events.push(Known {
                source: source.clone(),
                way,
                acknowledged: false,
                forgiven: false,
                unordered: false,
                by_channel: BTreeMap::new(),
            });
        }
        seen.received += n_events;
        seen.note(&format!("{source} puts {numbers:?}"));
        numbers
    }

    /// A source was told that its events are stored.
    pub(crate) fn acknowledged(&self, source: &str, numbers: &[u64]) {
        let mut seen = lock(&self.0);
        seen.accepted += numbers.len() as u64;
        seen.note(&format!("{source} was told ok: {numbers:?}"));
        seen.each(numbers, |event| event.acknowledged = true);
    }

    /// A source has given refused events up.
    pub(crate) fn given_up(&self, source: &str, numbers: &[u64]) {
        lock(&self.0).note(&format!("{source} gives up {numbers:?}"));
    }

    /// Later events may come before these.
    pub(crate) fn out_of_order(&self, numbers: &[u64]) {
        lock(&self.0).each(numbers, |event| event.unordered = true);
    }

    /// A sink was given events.
    pub(crate) fn handed(&self, sink: &str, numbers: &[u64]) {
        let mut seen = lock(&self.0);
        seen.note(&format!("{sink} is given {numbers:?}"));
        let channel = channel_of(sink);
        for &number in numbers {
            let Some(event) = seen.event(number) else { continue };
            let way = &event.way;
            if ![&way.required, &way.optional, &way.one_of].iter().any(|set| set.contains(&channel)) {
                let what =
                    format!("event {number} came out of channel c{channel}, and was not sent there: {way:?}");
                seen.fault(what);
                continue;
            }
            let counts = event.by_channel.entry(channel).or_default();
            counts.0 += 1;
            // What a channel need not take is offered to it after all that it must.
            if counts.0 > 1 || event.unordered || event.way.optional.contains(&channel) {
                continue;
            }
            let source = event.source.clone();
            let last = seen.last_handed.insert((source.clone(), channel), number);
            if !seen.shared.contains(&channel)
                && let Some(last) = last.filter(|last| *last > number)
            {
                seen.fault(format!("order: event {number} of {source} came out of c{channel} after {last}"));
            }
        }
    }

    /// Events have arrived where they are safe.
    pub(crate) fn delivered(&self, sink: &str, numbers: &[u64]) {
        let mut seen = lock(&self.0);
        seen.note(&format!("{sink} has delivered {numbers:?}"));
        let channel = channel_of(sink);
        for &number in numbers {
            let Some(event) = seen.event(number) else { continue };
            event.by_channel.entry(channel).or_default().1 += 1;
            let of = |channel: &usize| event.by_channel.get(channel).copied().unwrap_or_default();
            // One of several channels has it: together they deliver it once.
            let (arrived, excused) = match event.way.one_of.is_empty() {
                true => (of(&channel).1, of(&channel).2),
                false => event.way.one_of.iter().map(of).fold((0, 0), |sum, of| (sum.0 + of.1, sum.1 + of.2)),
            };
            if arrived > 1 + excused {
                seen.fault(format!(
                    "event {number} arrived {arrived} times from c{channel}, {excused} excused"
                ));
                continue;
            }
            if arrived > 1 || event.unordered || event.way.optional.contains(&channel) {
                continue;
            }
            let source = event.source.clone();
            let last = seen.last_arrived.insert((source.clone(), channel), number);
            if !seen.grouped.contains(&channel)
                && let Some(last) = last.filter(|last| *last > number)
            {
                seen.fault(format!("order: event {number} of {source} arrived from c{channel} after {last}"));
            }
        }
    }

    /// Nobody may get to hear that these have arrived: they may come once more.
    pub(crate) fn excused(&self, sink: &str, numbers: &[u64]) {
        lock(&self.0).each(numbers, |event| event.by_channel.entry(channel_of(sink)).or_default().2 += 1);
    }

    /// It was heard after all.
    pub(crate) fn not_excused(&self, sink: &str, numbers: &[u64]) {
        lock(&self.0).each(numbers, |event| event.by_channel.entry(channel_of(sink)).or_default().2 -= 1);
    }

    /// More than one sink, or runner, takes from a channel: what is known of the order is less, or nothing.
    pub(crate) fn share(&self, channel: usize, among_runners: bool) {
        let mut seen = lock(&self.0);
        seen.grouped.insert(channel);
        if among_runners {
            seen.shared.insert(channel);
        }
    }

    /// The agent has ended, with so many events told as left in each channel. Those are gone with the memory they were in.
    pub(crate) fn ended(&self, left: Option<&BTreeMap<usize, u64>>) {
        let mut seen = lock(&self.0);
        if let Some(left) = left {
            let mut owed = BTreeMap::<usize, u64>::new();
            let mut any = 0;
            for event in &seen.events {
                for channel in event.owed() {
                    match event.way.one_of.is_empty() {
                        true => *owed.entry(channel).or_default() += 1,
                        false => any += 1,
                    }
                }
            }
            let spare: u64 =
                left.iter().map(|(c, n)| n.saturating_sub(owed.get(c).copied().unwrap_or(0))).sum();
            let missing = owed.iter().find(|(channel, n)| left.get(channel).copied().unwrap_or(0) < **n);
            if let Some((channel, n)) = missing {
                let what = format!(
                    "{n} acknowledged events of c{channel} have not arrived, {left:?} are said to be left"
                );
                seen.fault(what);
            } else if any > spare {
                seen.fault(format!("{any} balanced events have not arrived, {spare} are said to be left"));
            }
        }
        seen.events.iter_mut().for_each(|event| event.forgiven = true);
        (seen.received, seen.accepted) = (0, 0);
    }

    /// From now on everything is well: no source begins anything, and every sink delivers.
    pub(crate) fn be_over(&self) {
        let mut seen = lock(&self.0);
        seen.over = true;
        seen.storm_until = None;
    }

    /// A source has put something after all got well.
    pub(crate) fn is_well(&self, source: &Arc<str>) {
        lock(&self.0).well.insert(source.clone());
    }

    /// Sources that have.
    pub(crate) fn well(&self) -> BTreeSet<Arc<str>> {
        lock(&self.0).well.clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        lock(&self.0).over
    }

    /// All sinks fail until then.
    pub(crate) fn storm_until(&self, until: Instant) {
        lock(&self.0).storm_until = Some(until);
    }

    pub(crate) fn is_storm(&self) -> bool {
        lock(&self.0).storm_until.is_some_and(|until| Instant::now() < until)
    }

    /// An acknowledged event that has not arrived everywhere yet, and from which channel it is owed.
    pub(crate) fn owed(&self) -> Option<(u64, usize)> {
        let seen = lock(&self.0);
        let mut owed = seen.events.iter().zip(0..).filter_map(|(event, n)| Some((n, *event.owed().first()?)));
        owed.next()
    }

    /// Events that sources have handed on, and those acknowledged, since the agent was started; and those of the whole run.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let seen = lock(&self.0);
        (seen.received, seen.accepted, seen.events.iter().filter(|event| event.acknowledged).count() as u64)
    }
}

impl Seen {
    fn event(&mut self, number: u64) -> Option<&mut Known> {
        usize::try_from(number).ok().and_then(|n| self.events.get_mut(n))
    }

    fn each(&mut self, numbers: &[u64], mut change: impl FnMut(&mut Known)) {
        for &number in numbers {
            if let Some(event) = self.event(number) {
                change(event);
            }
        }
    }

    fn note(&mut self, what: &str) {
        if self.trace.len() < MOST_LINES {
            let ms = self.started.elapsed().as_millis();
            self.trace.push(format!("{ms:>9} ms  {what}"));
        }
    }

    fn fault(&mut self, what: String) {
        if self.problem.is_none() {
            self.note(&format!("WRONG: {what}"));
            self.problem = Some(what);
        }
    }
}

/// The name of a sink ends with the number of its channel.
fn channel_of(sink: &str) -> usize {
    let channel = sink.split('-').next_back().and_then(|digits| digits.parse().ok());
    channel.expect("the scenario names its sinks so")
}

/// Takes an observer off the list.
#[derive(Debug)]
pub(crate) struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        lock(&ALL).remove(&self.0);
    }
}
