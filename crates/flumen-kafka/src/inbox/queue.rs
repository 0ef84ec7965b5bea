//! What was read and not yet finished: events that wait or are on loan, and how far each partition is done. Pure state.

use flumen_core::event::Batch;
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

/// Which record an event came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of a partition as it is assigned now; a later assignment of the same one gets another.
    pub(crate) slot: u32,
    pub(crate) offset: i64,
}

/// Events with a mark for each.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) batch: Batch,
    pub(crate) marks: Vec<Mark>,
}

/// How far a partition is done: the offset of the next record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) topic: Arc<str>,
    pub(crate) partition: i32,
    pub(crate) next: i64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    slots: HashMap<u32, Slot>,
    n_slots: u32,
    ready: VecDeque<Piece>,
    n_ready: u64,
    bytes: u64,
    n_on_loan: u64,
}

#[derive(Debug)]
struct Slot {
    topic: Arc<str>,
    partition: i32,
    /// Records in the order of their offsets that are not all done, and whether each is.
    open: VecDeque<(i64, bool)>,
    next: Option<i64>,
    dirty: bool,
    on_loan: u64,
}

impl Queue {
    /// The slot of a partition that is assigned; a new one for a new assignment.
    pub(crate) fn slot(&mut self, topic: &str, partition: i32) -> u32 {
        let known = self.slots.iter().find(|(_, slot)| slot.partition == partition && &*slot.topic == topic);
        if let Some((number, _)) = known {
            return *number;
        }
        self.n_slots += 1;
        let slot = Slot {
            topic: topic.into(),
            partition,
            open: VecDeque::new(),
            next: None,
            dirty: false,
            on_loan: 0,
        };
        self.slots.insert(self.n_slots, slot);
        self.n_slots
    }

    /// The topic and the partition of a slot.
    pub(crate) fn is_slot(&self, number: u32, topic: &str, partition: i32) -> bool {
        self.slots.get(&number).is_some_and(|slot| slot.partition == partition && &*slot.topic == topic)
    }

    /// Adds what was read, in order; `skipped` are records that made no event.
    pub(crate) fn push(&mut self, piece: Piece, skipped: &[Mark]) {
        let mut all: Vec<(Mark, bool)> = piece.marks.iter().map(|mark| (*mark, false)).collect();
        all.extend(skipped.iter().map(|mark| (*mark, true)));
        if !skipped.is_empty() {
            all.sort_by_key(|(mark, _)| (mark.slot, mark.offset));
        }
        for (mark, done) in all {
            if let Some(slot) = self.slots.get_mut(&mark.slot) {
                slot.open.push_back((mark.offset, done));
            }
        }
        let slots: Vec<u32> = skipped.iter().map(|mark| mark.slot).collect();
        slots.into_iter().for_each(|slot| self.advance(slot));
        self.count_ready(&piece);
        if !piece.marks.is_empty() {
            self.ready.push_back(piece);
        }
    }

    fn count_ready(&mut self, piece: &Piece) {
        self.n_ready += piece.marks.len() as u64;
        self.bytes += piece.batch.size().bytes;
    }

    /// How many events wait.
    pub(crate) fn n_ready(&self) -> u64 {
        self.n_ready
    }

    /// Bytes of the bodies that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many events are on loan.
    pub(crate) fn n_on_loan(&self) -> u64 {
        self.n_on_loan
    }

    /// Lends up to `max` events, in order.
    pub(crate) fn take(&mut self, max: usize) -> Option<Piece> {
        let mut taken = Piece::default();
        while taken.marks.len() < max {
            let Some(mut piece) = self.ready.pop_front() else { break };
            let room = max - taken.marks.len();
            if piece.marks.len() > room {
                let rest = Piece { marks: piece.marks.split_off(room), batch: Batch::new() };
                let front = piece.batch.split_front(room);
                self.ready.push_front(Piece { batch: std::mem::replace(&mut piece.batch, front), ..rest });
            }
            taken.batch.append(piece.batch);
            taken.marks.append(&mut piece.marks);
        }
        if taken.marks.is_empty() {
            return None;
        }
        self.n_ready -= taken.marks.len() as u64;
        self.bytes -= taken.batch.size().bytes.min(self.bytes);
        self.lend(&taken.marks, true);
        Some(taken)
    }

    fn lend(&mut self, marks: &[Mark], lent: bool) {
        let n = marks.len() as u64;
        self.n_on_loan = if lent { self.n_on_loan + n } else { self.n_on_loan.saturating_sub(n) };
        for mark in marks {
            if let Some(slot) = self.slots.get_mut(&mark.slot) {
                slot.on_loan = if lent { slot.on_loan + 1 } else { slot.on_loan.saturating_sub(1) };
            }
        }
    }

    /// These are finished with.
    pub(crate) fn done(&mut self, marks: &[Mark]) {
        self.lend(marks, false);
        let mut touched = Vec::new();
        for mark in marks {
            let Some(slot) = self.slots.get_mut(&mark.slot) else { continue };
            let place = slot.open.partition_point(|(offset, _)| *offset < mark.offset);
            if let Some(open) = slot.open.get_mut(place).filter(|open| open.0 == mark.offset) {
                open.1 = true;
            }
            if touched.last() != Some(&mark.slot) {
                touched.push(mark.slot);
            }
        }
        touched.into_iter().for_each(|slot| self.advance(slot));
    }

    fn advance(&mut self, number: u32) {
        let Some(slot) = self.slots.get_mut(&number) else { return };
        while let Some((offset, true)) = slot.open.front().copied() {
            slot.open.pop_front();
            (slot.next, slot.dirty) = (Some(offset + 1), true);
        }
    }

    /// Takes back what was on loan, to its old place. Events of partitions that are another's now are forgotten.
    pub(crate) fn give_back(&mut self, piece: Piece) {
        self.lend(&piece.marks, false);
        let kept = self.without(piece, |slots, slot| !slots.contains_key(&slot));
        if kept.marks.is_empty() {
            return;
        }
        self.count_ready(&kept);
        // Behind what comes before it in its partition and was given back already.
        let first = kept.marks[0];
        let before = |piece: &Piece| {
            let other = piece.marks[0];
            other.slot == first.slot && other.offset < first.offset
        };
        let place = self.ready.iter().take_while(|piece| before(piece)).count();
        self.ready.insert(place, kept);
    }

    /// A piece without the events of some slots.
    fn without(&self, piece: Piece, gone: impl Fn(&HashMap<u32, Slot>, u32) -> bool) -> Piece {
        if !piece.marks.iter().any(|mark| gone(&self.slots, mark.slot)) {
            return piece;
        }
        let batch = piece.batch.filtered(|at, _| !gone(&self.slots, piece.marks[at].slot));
        let marks = piece.marks.into_iter().filter(|mark| !gone(&self.slots, mark.slot)).collect();
        Piece { batch, marks }
    }

    /// Forgets what waits of these partitions, as another will read it. What is on loan stays open.
    pub(crate) fn withdraw(&mut self, partitions: &[(String, i32)]) -> Vec<u32> {
        let is =
            |slot: &Slot| partitions.iter().any(|(topic, n)| slot.partition == *n && *slot.topic == **topic);
        let numbers: Vec<u32> = self.slots.iter().filter(|(_, slot)| is(slot)).map(|(n, _)| *n).collect();
        let ready = std::mem::take(&mut self.ready);
        (self.n_ready, self.bytes) = (0, 0);
        for piece in ready {
            let kept = self.without(piece, |_, slot| numbers.contains(&slot));
            if !kept.marks.is_empty() {
                self.count_ready(&kept);
                self.ready.push_back(kept);
            }
        }
        numbers
    }

    /// How many events of these slots are on loan.
    pub(crate) fn on_loan_of(&self, slots: &[u32]) -> u64 {
        slots.iter().filter_map(|slot| self.slots.get(slot)).map(|slot| slot.on_loan).sum()
    }

    /// Ends these slots; what comes back of them later is forgotten.
    pub(crate) fn end(&mut self, slots: &[u32]) {
        slots.iter().for_each(|slot| drop(self.slots.remove(slot)));
    }

    /// Whether a position has changed since it was told.
    pub(crate) fn is_dirty(&self) -> bool {
        self.slots.values().any(|slot| slot.dirty)
    }

    /// Positions that nobody was told of since they changed; of these slots, or of all.
    pub(crate) fn positions(&mut self, of: Option<&[u32]>) -> Vec<Position> {
        let mut all = Vec::new();
        for (number, slot) in &mut self.slots {
            if !slot.dirty || of.is_some_and(|of| !of.contains(number)) {
                continue;
            }
            if let Some(next) = slot.next {
                slot.dirty = false;
                all.push(Position { topic: slot.topic.clone(), partition: slot.partition, next });
            }
        }
        all
    }

    /// These were not kept: they are to be told again.
    pub(crate) fn untold(&mut self, positions: &[Position]) {
        for position in positions {
            let slot = self
                .slots
                .values_mut()
                .find(|slot| slot.partition == position.partition && slot.topic == position.topic);
            if let Some(slot) = slot {
                slot.dirty = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_core::testing::{numbered, numbers};

    fn piece(slot: u32, offsets: std::ops::Range<i64>) -> Piece {
        let batch = numbered(offsets.start as u64..offsets.end as u64);
        Piece { batch, marks: offsets.map(|offset| Mark { slot, offset }).collect() }
    }

    fn queue(n_partitions: i32) -> (Queue, Vec<u32>) {
        let mut queue = Queue::default();
        let slots = (0..n_partitions).map(|partition| queue.slot("t", partition)).collect();
        (queue, slots)
    }

    fn next(queue: &mut Queue) -> Vec<(i32, i64)> {
        let mut all: Vec<_> =
            queue.positions(None).iter().map(|position| (position.partition, position.next)).collect();
        all.sort();
        all
    }

    #[test]
    fn a_position_is_behind_all_that_is_done_without_a_gap() {
        let (mut queue, slots) = queue(1);
        queue.push(piece(slots[0], 0..10), &[]);
        let (first, second, third) =
            (queue.take(3).unwrap(), queue.take(3).unwrap(), queue.take(30).unwrap());
        assert_eq!(
            (first.marks.len(), second.marks.len(), third.marks.len(), queue.n_on_loan()),
            (3, 3, 4, 10)
        );
        queue.done(&second.marks);
        assert_eq!(next(&mut queue), []);
        queue.done(&first.marks);
        assert_eq!(next(&mut queue), [(0, 6)]);
        assert_eq!(next(&mut queue), [], "it is told once");
        queue.untold(&[Position { topic: "t".into(), partition: 0, next: 6 }]);
        queue.done(&third.marks[..2]);
        assert_eq!(next(&mut queue), [(0, 8)]);
        queue.give_back(Piece { batch: numbered(8..10), marks: third.marks[2..].to_vec() });
        assert_eq!((queue.n_ready(), queue.n_on_loan()), (2, 0));
        assert_eq!(numbers(&queue.take(9).unwrap().batch), [8, 9]);
    }

    #[test]
    fn what_is_given_back_is_in_its_old_place_in_whatever_order_it_comes() {
        let (mut queue, slots) = queue(1);
        queue.push(piece(slots[0], 0..9), &[]);
        let (first, second) = (queue.take(3).unwrap(), queue.take(3).unwrap());
        queue.give_back(first);
        queue.give_back(second);
        assert_eq!(numbers(&queue.take(9).unwrap().batch), (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn records_that_made_no_event_are_done_at_once_and_hold_nothing_up() {
        let (mut queue, slots) = queue(1);
        let slot = slots[0];
        let mut read = piece(slot, 0..4);
        read.batch = read.batch.filtered(|at, _| at != 1 && at != 3);
        read.marks.retain(|mark| mark.offset != 1 && mark.offset != 3);
        queue.push(read, &[Mark { slot, offset: 1 }, Mark { slot, offset: 3 }]);
        assert_eq!(next(&mut queue), []);
        let taken = queue.take(9).unwrap();
        queue.done(&taken.marks[..1]);
        assert_eq!(next(&mut queue), [(0, 2)]);
        queue.done(&taken.marks[1..]);
        assert_eq!(next(&mut queue), [(0, 4)]);
    }

    #[test]
    fn a_partition_that_is_withdrawn_leaves_nothing_behind() {
        let (mut queue, slots) = queue(2);
        queue.push(piece(slots[0], 0..3), &[]);
        queue.push(piece(slots[1], 100..103), &[]);
        queue.push(piece(slots[0], 3..6), &[]);
        let taken = queue.take(2).unwrap();
        let gone = queue.withdraw(&[("t".to_owned(), 0)]);
        assert_eq!((gone.clone(), queue.n_ready(), queue.on_loan_of(&gone)), (vec![slots[0]], 3, 2));
        queue.done(&taken.marks[..1]);
        let positions = queue.positions(Some(&gone));
        assert_eq!((positions[0].next, positions.len(), queue.on_loan_of(&gone)), (1, 1, 1));
        queue.end(&gone);
        // It is assigned anew: the old loan means nothing to it.
        let again = queue.slot("t", 0);
        assert_ne!(again, slots[0]);
        queue.give_back(Piece { batch: taken.batch.slice(1..2), marks: taken.marks[1..].to_vec() });
        assert_eq!((queue.n_on_loan(), numbers(&queue.take(9).unwrap().batch)), (0, vec![100, 101, 102]));
        assert!(queue.is_slot(again, "t", 0) && !queue.is_slot(slots[0], "t", 0));
    }
}
