//! Order, counts and memory of what waits.

use super::*;

const LIMIT: u64 = 100_000;

/// Events of ten bytes each in one file, with their copy.
fn piece(file: u32, offset: u32, count: u32) -> Piece {
    let events = (0..count).map(|n| EventAt {
        offset: offset + n * 100,
        body: n * 10,
        body_len: 10,
        ..EventAt::default()
    });
    let copy = EventCopy::new(vec![7; count as usize * 10].into(), events.collect());
    Piece {
        first: 0,
        place: Pointer { file, offset },
        count,
        bytes: u64::from(count) * 10,
        since: 5,
        copy: Some(copy),
    }
}

fn store(queue: &mut Queue, piece: Piece) {
    assert!(queue.reserve(u64::from(piece.count), u64::MAX));
    queue.store(vec![piece]);
}

fn offsets(pieces: &[Piece]) -> Vec<u32> {
    let of = |piece: &Piece| -> Vec<u32> {
        piece.copy.iter().flat_map(|copy| copy.events()).map(|event| event.offset).collect()
    };
    pieces.iter().flat_map(of).collect()
}

#[test]
fn events_are_lent_in_order_and_come_back_to_their_place() {
    let mut queue = Queue::new([], 0, LIMIT);
    store(&mut queue, piece(1, 0, 3));
    store(&mut queue, piece(1, 1000, 3));
    let first = queue.lend(2);
    let second = queue.lend(3);
    assert_eq!((offsets(&first), offsets(&second)), (vec![0, 100], vec![200, 1000, 1100]));
    let kept = queue.split_loan(second, 2);
    assert_eq!(offsets(&kept), [200, 1000]);
    queue.give_back(first);
    let depth = queue.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.bytes, depth.since), (4, 2, 60, Some(5)));
    queue.remove(&kept);
    assert_eq!(offsets(&queue.lend(9)), [0, 100, 1100, 1200]);
    let depth = queue.depth();
    assert_eq!((depth.stored, depth.removed, depth.bytes), (6, 2, 40));
}

#[test]
fn room_is_held_up_to_the_capacity() {
    let mut queue = Queue::new([(Pointer { file: 1, offset: 0 }, 3, 30)], 0, LIMIT);
    assert!(queue.reserve(2, 5));
    assert!(!queue.reserve(1, 5) && !queue.reserve(u64::MAX, u64::MAX));
    queue.release(1);
    assert!(queue.reserve(1, 5));
}

#[test]
fn beyond_the_limit_only_places_are_kept_and_neighbours_become_one() {
    let mut queue = Queue::new([], 0, 1_000);
    for n in 0..1000 {
        store(&mut queue, piece(1, n * 1000, 1));
    }
    assert!(queue.pieces.len() < 10, "{} pieces", queue.pieces.len());
    assert!(queue.memory <= 1_000);
    store(&mut queue, piece(2, 0, 1));
    assert_eq!(queue.live(true).last().unwrap(), &(Pointer { file: 2, offset: 0 }, 1, 10));
    let total: u32 = queue.live(true).iter().map(|(_, count, _)| count).sum();
    assert_eq!((total, queue.oldest_file()), (1001, Some(1)));
}

#[test]
fn what_was_found_on_disk_is_read_when_its_turn_comes() {
    let found = [(Pointer { file: 1, offset: 40 }, 5, 50), (Pointer { file: 1, offset: 4000 }, 2, 20)];
    let mut queue = Queue::new(found, 0, LIMIT);
    assert!(queue.lend(9).is_empty());
    assert_eq!(queue.to_read(), Some((0, Pointer { file: 1, offset: 40 }, 5, Some(4000))));
    let copy = piece(1, 40, 2).copy.unwrap();
    assert_eq!(queue.attach(0, copy, 1, Some(Pointer { file: 1, offset: 340 })), 1);
    assert_eq!(offsets(&queue.lend(9)), [40, 140]);
    assert_eq!(queue.to_read(), Some((3, Pointer { file: 1, offset: 340 }, 2, Some(4000))));
    assert_eq!(queue.attach(3, EventCopy::default(), 0, None), 2);
    let depth = queue.depth();
    assert_eq!((depth.queued, depth.on_loan, depth.removed, depth.bytes), (2, 2, 3, 40));
    assert_eq!(queue.live(true), [(Pointer { file: 1, offset: 40 }, 2, 20), (found[1].0, 2, 20)]);
}

#[test]
fn memory_is_counted_to_nothing_when_all_is_gone() {
    let mut queue = Queue::new([], 0, LIMIT);
    (0..5).for_each(|n| store(&mut queue, piece(1, n * 1000, 7)));
    while queue.depth().queued > 0 {
        let lent = queue.lend(3);
        let kept = queue.split_loan(lent, 2);
        queue.remove(&kept);
    }
    assert_eq!((queue.memory, queue.depth().bytes), (0, 0));
}
