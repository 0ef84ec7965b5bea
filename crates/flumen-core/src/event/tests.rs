//! Batches behave like plain lists of events, whatever they share.

use super::*;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Plain = (BTreeMap<String, String>, Vec<u8>);

fn plain(batch: &Batch) -> Vec<Plain> {
    let headers =
        |event: Event<'_>| event.headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    batch.iter().map(|event| (headers(event), event.body.to_vec())).collect()
}

fn three() -> Batch {
    let mut batch = Batch::new();
    let segment = batch.add_segment(Bytes::from_static(b"onetwothree"));
    let set = batch.add_headers(Headers::from_iter([("host", "a")]));
    batch.push_slice(set, segment, 0..3);
    batch.push_slice(set, segment, 3..6);
    batch.push_slice(set, segment, 6..11);
    batch
}

#[test]
fn rows_read_back_what_was_pushed() {
    let batch = three();
    let bodies: Vec<_> = batch.iter().map(|event| event.body).collect();
    assert_eq!(bodies, [&b"one"[..], b"two", b"three"]);
    assert_eq!(batch.get(2).unwrap().headers.get("host").unwrap(), "a");
    assert_eq!(batch.size(), BatchSize { events: 3, bytes: 11, slots: 3 });
    assert_eq!(batch.body_bytes(1), "two");
}

#[test]
fn mem_10_mem_17_slots_are_hundreds_rounded_up_and_at_least_one() {
    let mut batch = Batch::new();
    for len in [0, 1, 100, 101, 405] {
        batch.push(Headers::new(), vec![b'x'; len]);
    }
    assert_eq!(batch.size(), BatchSize { events: 5, bytes: 607, slots: 1 + 1 + 1 + 2 + 5 });
}

#[test]
fn one_edit_serves_all_events_that_share_a_set() {
    let mut batch = three();
    let mut calls = 0;
    batch.edit_headers(|headers| {
        calls += 1;
        headers.set(Text::from_static("k"), Text::from_static("v"));
        headers.remove("host");
    });
    assert_eq!(calls, 1);
    assert!(batch.iter().all(|event| event.headers.get("k").unwrap() == "v" && event.headers.len() == 1));
}

#[test]
fn own_headers_hide_shared_ones_and_a_later_shared_edit_sees_them() {
    let mut batch = three();
    batch.edit_each(|event, own| {
        own.set_fmt(Text::from_static("len"), event.body.len());
        if event.body == b"two" {
            own.set_str(Text::from_static("host"), "mine");
        }
    });
    let hosts =
        |batch: &Batch| batch.iter().map(|e| e.headers.get("host").unwrap().to_string()).collect::<Vec<_>>();
    assert_eq!(hosts(&batch), ["a", "mine", "a"]);
    // An edit of another name keeps the sharing …
    batch.edit_headers(|headers| headers.set(Text::from_static("x"), Text::from_static("y")));
    assert_eq!(hosts(&batch), ["a", "mine", "a"]);
    // … and one that looks at an own name is made for each event.
    batch.edit_headers(|headers| {
        if headers.get("host").is_some_and(|host| *host == "mine") {
            headers.set(Text::from_static("host"), Text::from_static("ours"));
        }
    });
    assert_eq!(hosts(&batch), ["a", "ours", "a"]);
    let lens: Vec<_> = batch.iter().map(|e| e.headers.get("len").unwrap().to_string()).collect();
    assert_eq!(lens, ["3", "3", "5"]);
}

#[test]
fn expand_drops_keeps_splits_and_adds() {
    let mut batch = three();
    batch.expand(|event, emit| match event.body {
        b"one" => {}
        b"two" => emit.keep(),
        _ => {
            emit.body(b"THREE");
            emit.part(1..3);
        }
    });
    let bodies: Vec<_> = batch.iter().map(|event| event.body).collect();
    assert_eq!(bodies, [&b"two"[..], b"THREE", b"hr"]);
    assert!(batch.iter().all(|event| event.headers.get("host").is_some()));
}

#[test]
fn compact_lets_a_large_buffer_go() {
    let mut batch = Batch::new();
    let segment = batch.add_segment(Bytes::from(vec![b'x'; 64 * 1024]));
    let set = batch.add_headers(Headers::new());
    batch.push_slice(set, segment, 10..30);
    batch.compact();
    assert_eq!(batch.pinned_bytes(), 20);
    assert_eq!(batch.get(0).unwrap().body, &[b'x'; 20]);
}

#[test]
fn many_headers_still_end() {
    let pairs = (0..1_000).map(|i| (format!("name{}", i % 900), format!("{i}")));
    let headers = Headers::from_iter(pairs);
    assert_eq!(headers.len(), 900);
    assert_eq!(headers.get("name99").unwrap(), "999");
    assert_eq!(headers.get("name899").unwrap(), "899");
}

#[test]
fn bodies_that_lie_end_to_end_are_added_by_their_lengths() {
    let mut batch = three();
    batch.push_slices(0, 0, 3, [3, 0, 5]);
    assert_eq!(batch.size(), BatchSize { events: 6, bytes: 11 + 8, slots: 6 });
    let bodies: Vec<_> = batch.iter().skip(3).map(|event| event.body).collect();
    assert_eq!(bodies, [&b"two"[..], b"", b"three"]);
}

#[test]
fn bodies_beyond_their_segment_add_nothing() {
    for lens in [&[9][..], &[3, 3, 3], &[u32::MAX, u32::MAX, 2]] {
        let mut batch = three();
        let added = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            batch.push_slices(0, 0, 3, lens.iter().copied());
        }));
        assert!(added.is_err(), "{lens:?}");
        assert_eq!(batch.len(), 3);
    }
}

#[test]
#[should_panic(expected = "outside of 11 bytes")]
fn a_row_cannot_reach_beyond_its_segment() {
    let mut batch = three();
    batch.push_slice(0, 0, 6..12);
}

/// What the model test does to a batch and to a list of plain events alike.
#[derive(Debug, Clone)]
enum Change {
    Push(u8, Vec<u8>),
    EditAll(u8),
    EditEach(u8),
    Retain(u8),
    SplitFront(usize),
    SplitBack(usize),
    Double,
    Expand(u8),
    Compact,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0u8..4, proptest::collection::vec(any::<u8>(), 0..9)).prop_map(|(h, b)| Change::Push(h, b)),
        (0u8..4).prop_map(Change::EditAll),
        (0u8..4).prop_map(Change::EditEach),
        (0u8..4).prop_map(Change::Retain),
        (0usize..8).prop_map(Change::SplitFront),
        (0usize..8).prop_map(Change::SplitBack),
        Just(Change::Double),
        (0u8..3).prop_map(Change::Expand),
        Just(Change::Compact),
    ]
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

proptest! {
    #[test]
    fn a_batch_is_a_list_of_events(changes in proptest::collection::vec(change(), 0..24)) {
        let mut batch = Batch::new();
        let mut model: Vec<Plain> = Vec::new();
        for change in changes {
            match change {
                Change::Push(h, body) => {
                    let name = NAMES[h as usize];
                    batch.push(Headers::from_iter([(name, "p")]), body.clone());
                    model.push((BTreeMap::from([(name.into(), "p".into())]), body));
                }
                Change::EditAll(h) => {
                    let name = NAMES[h as usize];
                    batch.edit_headers(|headers| {
                        let value = headers.get(name).map_or("new".to_string(), |old| format!("{old}+"));
                        headers.set(Text::from_static(name), value.into());
                    });
                    for (headers, _) in &mut model {
                        let value = headers.get(name).map_or("new".to_string(), |old| format!("{old}+"));
                        headers.insert(name.into(), value);
                    }
                }
                Change::EditEach(h) => {
                    let name = NAMES[h as usize];
                    batch.edit_each(|event, own| {
                        if event.body.len() % 2 == 0 { own.set_fmt(Text::from_static(name), event.body.len()); }
                    });
                    for (headers, body) in &mut model {
                        if body.len() % 2 == 0 { headers.insert(name.into(), body.len().to_string()); }
                    }
                }
                Change::Retain(n) => {
                    batch.retain(|event| event.body.len() % 4 != n as usize);
                    model.retain(|(_, body)| body.len() % 4 != n as usize);
                }
                Change::SplitFront(n) => {
                    batch = batch.split_front(n);
                    model.truncate(n);
                }
                Change::SplitBack(n) => {
                    batch.split_front(n);
                    model.drain(..n.min(model.len()));
                }
                Change::Double => {
                    let odd = batch.filtered(|i, _| i % 2 == 1);
                    batch.append(odd);
                    let odd: Vec<_> = model.iter().skip(1).step_by(2).cloned().collect();
                    model.extend(odd);
                }
                Change::Expand(n) => {
                    batch.expand(|event, emit| match event.body.len() % 4 {
                        _ if n == 0 => emit.keep(),
                        0 => emit.body(&[b'e'; 120]),
                        1 => emit.part(0..1),
                        2 => {}
                        _ => (0..n).for_each(|_| emit.keep()),
                    });
                    let made = |(headers, body): &Plain| {
                        let bodies = match body.len() % 4 {
                            _ if n == 0 => vec![body.clone()],
                            0 => vec![vec![b'e'; 120]],
                            1 => vec![body[..1].to_vec()],
                            2 => vec![],
                            _ => vec![body.clone(); n as usize],
                        };
                        bodies.into_iter().map(|body| (headers.clone(), body)).collect::<Vec<_>>()
                    };
                    model = model.iter().flat_map(made).collect();
                }
                Change::Compact => batch.compact(),
            }
            prop_assert_eq!(plain(&batch), model.clone());
            let slots = model.iter().map(|(_, body)| body.len().div_ceil(100).max(1) as u64).sum();
            let bytes = model.iter().map(|(_, body)| body.len() as u64).sum();
            let events = u32::try_from(model.len()).unwrap();
            prop_assert_eq!(batch.size(), BatchSize { events, bytes, slots });
        }
    }
}

#[test]
fn a_kept_text_is_one_text_however_often_it_is_asked_for() {
    let (first, second) = (Text::kept("kept-name"), Text::kept(&String::from("kept-name")));
    assert_eq!((&*first, first.as_ptr()), ("kept-name", second.as_ptr()));
    let long = "x".repeat(1_001);
    assert_eq!(&*Text::kept(&long), long);
    assert_ne!(Text::kept(&long).as_ptr(), Text::kept(&long).as_ptr(), "not for ever");
}

#[test]
fn headers_at_one_place_are_known_as_the_same() {
    let mut batch = Batch::new();
    let set = batch.add_headers([("a", "1")].into_iter().collect());
    let other = batch.add_headers([("a", "1")].into_iter().collect());
    let segment = batch.add_segment(Bytes::from_static(b"xy"));
    for set in [set, set, other] {
        batch.push_slice(set, segment, 0..1);
    }
    let same = |batch: &Batch, a: usize, b: usize| {
        batch.get(a).unwrap().headers.is_same_place(&batch.get(b).unwrap().headers)
    };
    assert!(same(&batch, 0, 1) && !same(&batch, 1, 2));
    batch.edit_each(|_, own| own.set(Text::from_static("b"), Text::from_static("2")));
    assert!(!same(&batch, 0, 1), "each has entries of its own");
}

#[test]
fn a_text_is_its_string_whether_it_lies_in_its_place_or_elsewhere() {
    use std::{
        collections::HashMap,
        hash::{BuildHasher, RandomState},
    };
    let state = RandomState::new();
    for len in [0, 1, 12, 13, 14, 15, 16, 17, 300] {
        let string: String = "aäzz".chars().cycle().take(len).collect();
        let frame = Text::from_utf8(Bytes::from(format!("{}|{string}|", "f".repeat(40)))).unwrap();
        let part = &frame[41..41 + string.len()];
        let all = [
            Text::from(&*string),
            Text::from(string.clone()),
            Text::from_display(&string),
            Text::from_utf8(Bytes::from(string.clone())).unwrap(),
            frame.slice_of(part),
            Text::kept(&string),
        ];
        for text in &all {
            assert_eq!((text.as_str(), text.len(), &**text), (&*string, string.len(), &*string));
            assert!(all.iter().all(|other| text == other && text.is(other) && text.cmp(other).is_eq()));
            assert_eq!(state.hash_one(text), state.hash_one(&*string));
            assert_eq!(text.clone().into_bytes(), string.as_bytes());
            assert_eq!(text.cmp(&frame), string.as_str().cmp(&frame));
        }
        let map = HashMap::from([(all[0].clone(), len)]);
        assert_eq!(map.get(&*string), Some(&len), "a map of texts is asked by strings");
    }
}

#[test]
fn own_headers_that_are_set_again_keep_the_last_value_of_any_length() {
    let (short, long) = ("s", "a value that is longer than what lies in its place");
    let mut batch = three();
    batch.edit_each(|event, own| {
        let name = || Text::from_static("x");
        own.set_str(Text::from_static("other"), long);
        match event.body {
            b"one" => [short, long].map(|value| own.set_str(name(), value)),
            b"two" => [long, short].map(|value| own.set_str(name(), value)),
            _ => [long, "the second long value of this event"].map(|value| own.set_fmt(name(), value)),
        };
    });
    let values: Vec<_> = batch.iter().map(|event| event.headers.get("x").unwrap().to_string()).collect();
    assert_eq!(values, [long, short, "the second long value of this event"]);
    assert!(
        batch.iter().all(|event| *event.headers.get("other").unwrap() == *long && event.headers.len() == 3)
    );
}
