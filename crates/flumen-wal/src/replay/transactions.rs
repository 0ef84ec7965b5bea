//! Puts records together to transactions, and decides about those that are not whole.

use super::{
    cursor::{Seen, What},
    live::{Live, Span},
    report::Report,
};
use crate::{
    data_file::{Gap, GapKind},
    place::Pointer,
    record::Of,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
};

/// A transaction without its end.
#[derive(Debug, Default, Clone)]
pub(super) struct Transaction {
    pub(super) spans: Vec<Span>,
    pub(super) takes: Vec<Pointer>,
    /// Records of it that were read.
    n_records: u32,
    first_order: u64,
    ours: bool,
    /// Where its records lie: file, first byte, byte behind.
    stretches: Vec<(u32, u32, u32)>,
    /// What came between its records, or behind the last.
    touch: Touch,
    /// The last file in which a no-op lies between its records: a tool has left one out.
    noop_in: Option<u32>,
}

/// The worst gap that may have held records of a transaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    /// None.
    #[default]
    None,
    /// Bytes that were never written.
    Missing,
    /// Bytes that were, and are damaged.
    Damaged,
}

/// A transaction of ours that is not whole. What becomes of it depends on the highest watermark, which is known at the end.
#[derive(Debug)]
struct Doubt {
    transaction: Transaction,
    /// What its commit says it is, and how many records are missing, if the commit is there.
    commit: Option<(Of, u32)>,
    /// A commit that was written later, after an opening that kept it.
    confirmed: bool,
}

/// A directory's records, one after the other.
#[derive(Debug, Default)]
struct Directory {
    /// The transaction of the last record, if it has no end yet.
    current: Option<u64>,
    /// The worst gap since the last record.
    touch: Touch,
    /// The last put: its file, offset and transaction.
    last_put: Option<(u32, u32, u64)>,
}

/// The state of a replay.
#[derive(Debug)]
pub(super) struct Transactions<'a> {
    pub(super) live: Live<'a>,
    pub(super) report: Report,
    /// Few at a time, by id.
    open: BTreeMap<u64, Transaction>,
    /// Takes that were open in Java's checkpoint. Their events wait until a commit says otherwise.
    in_flight: HashMap<u64, Vec<Pointer>>,
    doubts: BTreeMap<u64, Doubt>,
    /// Events whose take is committed before their put is known.
    early_takes: BTreeSet<u64>,
    directories: Vec<Directory>,
    /// The highest watermark.
    pub(super) watermark: u64,
    pub(super) max_order: u64,
    pub(super) max_transaction: u64,
    /// For each file, the youngest file that its takes name.
    pub(super) takes_of: BTreeMap<u32, u32>,
    files: BTreeSet<u32>,
}

/// What must be written after a replay so that every later one, and Java's, comes to the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A commit with this transaction id, whose own commit is damaged. `records`: how many records it commits.
    Commit {
        /// The transaction id of the records.
        transaction: u64,
        /// What they are.
        of: Of,
        /// How many there are, without the commit.
        records: u32,
    },
    /// Takes, in a transaction of their own, of events that are gone although no data file says so.
    Takes(Vec<Pointer>),
}

impl<'a> Transactions<'a> {
    pub(super) fn new(live: Live<'a>, n_dirs: usize, files: BTreeSet<u32>) -> Self {
        Self {
            live,
            report: Report::default(),
            open: BTreeMap::new(),
            in_flight: HashMap::new(),
            doubts: BTreeMap::new(),
            early_takes: BTreeSet::new(),
            directories: (0..n_dirs).map(|_| Directory::default()).collect(),
            watermark: 0,
            max_order: 0,
            max_transaction: 0,
            takes_of: BTreeMap::new(),
            files,
        }
    }

    /// Puts that were open in Java's checkpoint.
    pub(super) fn open_puts(&mut self, transaction: u64, puts: &[Pointer]) {
        let span = |place: &Pointer| Span {
            file: place.file,
            first: place.offset,
            last: place.offset,
            before: None,
        };
        self.open.entry(transaction).or_default().spans.extend(puts.iter().map(span));
    }

    /// Takes that were open in Java's checkpoint.
    pub(super) fn open_takes(&mut self, transaction: u64, takes: &[Pointer]) {
        self.in_flight.entry(transaction).or_default().extend_from_slice(takes);
    }

    /// Ids of a record that is not replayed, since a checkpoint reflects it.
    pub(super) fn skip(&mut self, seen: &Seen) {
        self.max_order = self.max_order.max(seen.stamp.order);
        self.max_transaction = self.max_transaction.max(seen.stamp.transaction);
        self.watermark = self.watermark.max(seen.watermark.unwrap_or(0));
        if let What::Take(place) = seen.what {
            self.note_take(seen.file, place);
        }
    }

    fn note_take(&mut self, file: u32, place: Pointer) {
        if place.file > file {
            let youngest = self.takes_of.entry(file).or_default();
            *youngest = place.file.max(*youngest);
        }
    }

    pub(super) fn record(&mut self, dir: usize, seen: &Seen) -> io::Result<()> {
        self.skip(seen);
        let id = seen.stamp.transaction;
        let directory = &mut self.directories[dir];
        if let Some(other) = directory.current.take_if(|current| *current != id) {
            self.doubt(other, None);
        }
        let directory = &mut self.directories[dir];
        let touch = std::mem::take(&mut directory.touch);
        let last_put = directory.last_put;
        match seen.what {
            What::Put { .. } => directory.last_put = Some((seen.file, seen.at, id)),
            What::Commit(of) => {
                directory.current = None;
                return self.commit(seen, of, touch);
            }
            What::Rollback => {
                directory.current = None;
                self.report.rollbacks += 1;
                self.open.remove(&id);
                self.in_flight.remove(&id);
                return Ok(());
            }
            What::Take(_) => {}
        }
        if seen.ours {
            directory.current = Some(id);
        }
        let transaction = self.open.entry(id).or_default();
        transaction.add(seen, touch);
        match seen.what {
            What::Put { body_len } => {
                self.report.puts += 1;
                let before = last_put.filter(|(file, ..)| *file == seen.file).map(|(_, at, _)| at);
                let joins = touch == Touch::None && last_put.is_some_and(|(.., other)| other == id);
                match transaction.spans.last_mut() {
                    Some(last) if joins && last.file == seen.file && Some(last.last) == before => {
                        last.last = seen.at
                    }
                    _ => {
                        let (first, last) = (seen.at, seen.at);
                        transaction.spans.push(Span { file: seen.file, first, last, before });
                    }
                }
                self.live.note_put(seen.file, seen.at, body_len, before.is_some());
            }
            What::Take(place) => {
                self.report.takes += 1;
                transaction.takes.push(place);
            }
            What::Commit(_) | What::Rollback => {}
        }
        Ok(())
    }

    fn commit(&mut self, seen: &Seen, of: Of, touch: Touch) -> io::Result<()> {
        self.report.commits += 1;
        let id = seen.stamp.transaction;
        let in_flight = self.in_flight.remove(&id).filter(|_| of == Of::Takes);
        self.apply_takes(in_flight.as_deref().unwrap_or_default())?;
        if let Some(doubt) = self.doubts.get_mut(&id) {
            doubt.confirmed = true;
            return Ok(());
        }
        let Some(mut transaction) = self.open.remove(&id) else {
            match (in_flight, seen.records) {
                (Some(_), _) => {}
                (None, Some(records)) if records > 1 => {
                    let mut transaction = Transaction::default();
                    transaction.add(seen, touch);
                    self.add_doubt(
                        id,
                        Doubt { transaction, commit: Some((of, records - 1)), confirmed: false },
                    );
                }
                (None, _) => self.report.orphan_commits += 1,
            }
            return Ok(());
        };
        let missing = seen.records.map_or(0, |records| records.saturating_sub(transaction.n_records + 1));
        if missing > 0 {
            transaction.add(seen, touch);
            // Settling makes no-ops of the end of a run in a file together: with its commit there, a record was left out by a tool.
            if transaction.noop_in == Some(seen.file) {
                transaction.touch = Touch::Damaged;
            }
            self.add_doubt(id, Doubt { transaction, commit: Some((of, missing)), confirmed: false });
            return Ok(());
        }
        match of {
            Of::Puts => transaction.spans.iter().for_each(|span| self.put(*span)),
            Of::Takes => self.apply_takes(&transaction.takes)?,
        }
        Ok(())
    }

    fn put(&mut self, span: Span) {
        self.live.add(span);
        if self.early_takes.is_empty() {
            return;
        }
        let place = |offset| Pointer { file: span.file, offset }.pack();
        let early: Vec<u64> = self.early_takes.range(place(span.first)..=place(span.last)).copied().collect();
        for packed in early {
            if self.live.take(Pointer::unpack(packed)).unwrap_or(false) {
                self.early_takes.remove(&packed);
            }
        }
    }

    fn apply_takes(&mut self, takes: &[Pointer]) -> io::Result<()> {
        for place in takes {
            if !self.live.take(*place)? && self.files.contains(&place.file) {
                self.early_takes.insert(place.pack());
            }
        }
        Ok(())
    }

    pub(super) fn gap(&mut self, dir: usize, file: u32, gap: &Gap, tail: bool, last: bool) {
        self.live.note_gap(file, gap);
        let touch = match gap.kind {
            GapKind::Fill if tail => return,
            GapKind::Damaged => Touch::Damaged,
            // What Java's file ends with was never written; elsewhere it was.
            _ => Touch::Missing,
        };
        let directory = &mut self.directories[dir];
        directory.touch = directory.touch.max(touch);
        if let Some(transaction) = directory.current.and_then(|id| self.open.get_mut(&id)) {
            transaction.touch = transaction.touch.max(touch);
        }
        // Java's transactions: the one whose record is the last before the gap may have ended in it.
        if (touch == Touch::Damaged || !(tail && last))
            && let Some((.., id)) = directory.last_put
            && let Some(transaction) = self.open.get_mut(&id).filter(|transaction| !transaction.ours)
            && transaction
                .stretches
                .last()
                .is_some_and(|stretch| (stretch.0, u64::from(stretch.2)) == (file, gap.at))
        {
            transaction.touch = Touch::Damaged;
        }
    }

    fn doubt(&mut self, id: u64, commit: Option<(Of, u32)>) {
        if let Some(transaction) = self.open.remove(&id) {
            self.add_doubt(id, Doubt { transaction, commit, confirmed: false });
        }
    }

    /// Its puts get their place now; whether they keep it is decided at the end.
    fn add_doubt(&mut self, id: u64, doubt: Doubt) {
        for span in doubt.transaction.spans.clone() {
            self.put(span);
        }
        self.doubts.insert(id, doubt);
    }

    /// Decides about everything that has no end.
    pub(super) fn finish(&mut self, edits: &mut Vec<(u32, Stretch)>) -> io::Result<Vec<Fact>> {
        let mut facts = Vec::new();
        for dir in 0..self.directories.len() {
            if let Some(id) = self.directories[dir].current.take() {
                self.doubt(id, None);
            }
        }
        for (id, doubt) in std::mem::take(&mut self.doubts) {
            self.decide(id, doubt, &mut facts, edits)?;
        }
        let mut open: Vec<(u64, Transaction)> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(id, transaction)| (transaction.first_order, *id));
        for (id, transaction) in open {
            if transaction.touch != Touch::Damaged || transaction.spans.is_empty() {
                continue;
            }
            for span in transaction.spans {
                self.put(span);
            }
            self.report.maybe_doubled_events += u64::from(transaction.n_records);
            facts.push(Fact::Commit { transaction: id, of: Of::Puts, records: transaction.n_records });
        }
        Ok(facts)
    }

    fn decide(
        &mut self,
        id: u64,
        doubt: Doubt,
        facts: &mut Vec<Fact>,
        edits: &mut Vec<(u32, Stretch)>,
    ) -> io::Result<()> {
        let Doubt { transaction, commit, confirmed } = doubt;
        let acknowledged = transaction.first_order <= self.watermark;
        if !acknowledged && !confirmed && transaction.touch != Touch::Damaged {
            for span in &transaction.spans {
                self.live.remove(*span);
            }
            self.report.unfinished_runs += 1;
            let noop = |(file, from, to): &(u32, u32, u32)| (*file, Stretch { at: *from, end: *to });
            edits.extend(transaction.stretches.iter().map(noop));
            return Ok(());
        }
        if transaction.spans.is_empty() && transaction.takes.is_empty() {
            // Of a run with nothing left but its commit, the commit goes too.
            let noop = |(file, from, to): &(u32, u32, u32)| (*file, Stretch { at: *from, end: *to });
            edits.extend(transaction.stretches.iter().map(noop));
        }
        self.apply_takes(&transaction.takes)?;
        let of = commit.map_or(if transaction.takes.is_empty() { Of::Puts } else { Of::Takes }, |(of, _)| of);
        let missing = u64::from(commit.map_or(0, |(_, missing)| missing));
        match of {
            // An earlier opening has counted it.
            _ if confirmed => {}
            Of::Puts if acknowledged => self.report.lost_events += missing,
            Of::Puts => self.report.maybe_doubled_events += u64::from(transaction.n_records),
            Of::Takes => self.report.maybe_doubled_events += missing,
        }
        // A commit of ours has been counted as a record, and counts for nothing in another.
        let records = transaction.n_records - u32::from(commit.is_some());
        if !confirmed && records > 0 && (commit.is_none() || !acknowledged) {
            facts.push(Fact::Commit { transaction: id, of, records });
        }
        Ok(())
    }
}

/// A stretch of a file that becomes a no-op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) at: u32,
    pub(super) end: u32,
}

impl Transaction {
    fn add(&mut self, seen: &Seen, touch: Touch) {
        if self.n_records == 0 {
            self.first_order = seen.stamp.order;
            self.ours = seen.ours;
        }
        self.n_records += 1;
        if seen.noop_before && self.stretches.last().is_some_and(|(file, ..)| *file == seen.file) {
            self.noop_in = Some(seen.file);
        }
        self.touch = if self.ours { self.touch.max(touch) } else { Touch::None };
        match self.stretches.last_mut() {
            Some((file, _, end)) if *file == seen.file && *end == seen.at => *end = seen.end,
            _ => self.stretches.push((seen.file, seen.at, seen.end)),
        }
    }
}
