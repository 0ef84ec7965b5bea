//! Records: bytes that Java Flume 1.11 wrote, round trips, and what no damage may do.

use super::*;
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The first records of a file of Java Flume 1.11: a put, its commit, a take, a roll-back.
const JAVA: [&str; 4] = [
    "7f 00000031 17 0d01000000 119ea9d72ca2010000 199fa9d72ca2010000
     17 0a0c 0a06 0a016b 120176 12026869 11ac2a93d800000000 00",
    "7f 0000001f 17 0d04000000 119ea9d72ca2010000 19a0a9d72ca2010000 05 0d01000000 00",
    "7f 00000024 17 0d02000000 119fa9d72ca2010000 19a1a9d72ca2010000 0a 0d01000000 1562000000 00",
    "7f 0000001a 17 0d03000000 119fa9d72ca2010000 19a2a9d72ca2010000 00 00",
];

fn stamp(transaction: u64, order: u64) -> Stamp {
    Stamp { transaction, order }
}

fn pairs(headers: HeaderBytes<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}

#[test]
fn javas_records_are_read() {
    let first = 0x01a2_2cd7_a99e;
    let put = hex(JAVA[0]);
    assert_eq!(frame(&put), Frame::Record(0x31));
    let record = check(&put).unwrap();
    assert_eq!(record.stamp, stamp(first, first + 1));
    assert!(!record.footer.is_ours());
    let Body::Put { headers, body } = record.body else { panic!("a put") };
    assert_eq!((pairs(headers), body), (vec![(b"k".to_vec(), b"v".to_vec())], b"hi".as_slice()));
    assert_eq!(check(&hex(JAVA[1])).unwrap().body, Body::Commit(Of::Puts));
    assert_eq!(check(&hex(JAVA[2])).unwrap().body, Body::Take(Pointer { file: 1, offset: 0x62 }));
    assert_eq!(check(&hex(JAVA[3])).unwrap().body, Body::Rollback);
}

#[test]
fn a_put_of_ours_is_javas_put_and_a_footer() {
    let first = 0x01a2_2cd7_a99e;
    let (mut set, mut ours) = (Vec::new(), Vec::new());
    headers(&mut set, [(b"k".as_slice(), b"v".as_slice())]);
    put(&mut ours, stamp(first, first + 1), &set, b"hi");
    let java = hex(JAVA[0]);
    assert_eq!(ours[5..java.len() - 1], java[5..java.len() - 1]);
    assert_eq!(ours[java.len() - 1..java.len() + 1], [5, 0x7d]);
    assert_eq!(ours.len(), put_len(set.len(), 2));
}

#[test]
fn fch_74_a_damaged_body_is_found_by_javas_checksum() {
    let mut put = hex(JAVA[0]);
    let at = put.windows(2).position(|two| two == b"hi").unwrap();
    put[at] = b'x';
    assert_eq!(check(&put), Err(Damage::BodyChecksum));
}

#[test]
fn fch_79_the_types_round_trip_and_an_unknown_one_is_refused() {
    let mut out = Vec::new();
    take(&mut out, stamp(7, 8), Pointer { file: 3, offset: 99 });
    assert_eq!(out.len(), TAKE_LEN);
    let record = check(&out).unwrap();
    assert_eq!((record.stamp, record.body), (stamp(7, 8), Body::Take(Pointer { file: 3, offset: 99 })));

    out.clear();
    commit(&mut out, stamp(7, 9), Of::Takes, 2, 5);
    assert_eq!(out.len(), COMMIT_LEN);
    let record = check(&out).unwrap();
    assert_eq!(record.body, Body::Commit(Of::Takes));
    assert_eq!((record.footer.records, record.footer.watermark), (Some(2), Some(5)));

    out.clear();
    rollback(&mut out, stamp(8, 10), 9);
    assert_eq!(out.len(), ROLLBACK_LEN);
    let record = check(&out).unwrap();
    assert_eq!((record.body, record.footer.watermark), (Body::Rollback, Some(9)));

    let mut unknown = hex(JAVA[3]);
    unknown[7] = 9;
    assert_eq!(check(&unknown), Err(Damage::Type(9)));
}

#[test]
fn what_javas_writer_never_writes_is_damage() {
    for (what, bytes) in [
        ("no payload", "7f 00000000"),
        (
            "bytes behind the footer",
            "7f 0000001b 17 0d03000000 110100000000000000 190200000000000000 00 00 00",
        ),
        ("a negative id", "7f 0000001a 17 0d03000000 110100000000000080 190200000000000000 00 00"),
        ("no write order", "7f 00000011 0e 0d03000000 110100000000000000 00 00"),
        (
            "a commit of nothing",
            "7f 0000001f 17 0d04000000 110100000000000000 190200000000000000 05 0d03000000 00",
        ),
        (
            "a watermark without a checksum",
            "7f 00000023 17 0d03000000 110100000000000000 190200000000000000 00 09 690000000000000000",
        ),
    ] {
        assert_eq!(check(&hex(bytes)), Err(Damage::Form), "{what}");
    }
    assert_eq!(frame(&hex("7f ffffffff")), Frame::Unknown);
    assert_eq!(frame(&hex("7f 0000")), Frame::Unknown);
    assert_eq!(frame(&hex("80")), Frame::End);
    assert_eq!(frame(&hex("00 00000007")), Frame::Noop(7));
}

#[test]
fn events_with_null_value_or_a_header_behind_the_body_are_read() {
    let mut event = hex("0a03 0a016e 1202 6869 0a06 0a016b 120176");
    let mut payload = hex("17 0d01000000 110100000000000000 190200000000000000");
    payload.extend([event.len() as u8 + 2, 0x0a, event.len() as u8]);
    payload.append(&mut event);
    payload.push(0);
    let record = decode(&payload).unwrap();
    let Body::Put { headers, body } = record.body else { panic!("a put") };
    assert_eq!(body, b"hi");
    assert_eq!(pairs(headers), vec![(b"n".to_vec(), vec![]), (b"k".to_vec(), b"v".to_vec())]);
}

#[test]
fn fch_10_fch_51_a_put_has_an_event_and_a_take_has_none() {
    let mut set = Vec::new();
    headers(&mut set, [(b"name".as_slice(), b"value".as_slice())]);
    for (set, body) in [(&set[..], &b"five5"[..]), (&[], b"")] {
        let mut bytes = Vec::new();
        put(&mut bytes, stamp(1, 2), set, body);
        let Body::Put { headers, body: read } = check(&bytes).unwrap().body else { panic!("a put") };
        assert_eq!(read, body);
        let expected = if set.is_empty() { vec![] } else { vec![(b"name".to_vec(), b"value".to_vec())] };
        assert_eq!(pairs(headers), expected);
    }
    let mut bytes = Vec::new();
    take(&mut bytes, stamp(1, 2), Pointer { file: 3, offset: 4 });
    assert_eq!(check(&bytes).unwrap().body, Body::Take(Pointer { file: 3, offset: 4 }));
}

#[test]
fn fch_75_a_noop_covers_its_stretch() {
    assert_eq!(noop(4), None);
    assert_eq!(noop(5), Some([0, 0, 0, 0, 0]));
    assert_eq!(frame(&noop(261).unwrap()), Frame::Noop(256));
    assert_eq!(noop(u64::from(u32::MAX)), None);
}

#[test]
fn every_flipped_bit_of_our_records_is_noticed() {
    let mut run = Vec::new();
    let mut set = Vec::new();
    headers(&mut set, [(b"host".as_slice(), b"h1".as_slice())]);
    let mut ends = vec![0];
    put(&mut run, stamp(1, 2), &set, b"some body");
    ends.push(run.len());
    take(&mut run, stamp(1, 3), Pointer { file: 1, offset: 0 });
    ends.push(run.len());
    commit(&mut run, stamp(1, 4), Of::Puts, 2, 1);
    ends.push(run.len());
    rollback(&mut run, stamp(2, 5), 4);
    ends.push(run.len());
    for ends in ends.windows(2) {
        let record = &run[ends[0]..ends[1]];
        assert!(check(record).is_ok());
        for bit in 0..record.len() * 8 {
            let mut damaged = record.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(check(&damaged).is_err(), "bit {bit} of {record:02x?}");
        }
    }
}

#[test]
fn the_next_record_is_found_behind_junk() {
    let mut bytes = b"\x7f\x00\x00\x00junk\x7f\x7f".to_vec();
    let at = bytes.len();
    put(&mut bytes, stamp(1, 2), &[], b"x");
    assert_eq!(resync::candidate(&bytes, 0, &[0; HEADER_LEN]), Some(at));
    assert_eq!(resync::candidate(&bytes, at + 1, &[0; HEADER_LEN]), None);
    assert_eq!(resync::candidate(&bytes[..20], 0, &[0; HEADER_LEN]), None);
}

#[test]
fn fch_78_version_2_records_are_read() {
    let put =
        hex("deadbeef 0001 0000000000000007 0000000000000008 00 00000001 8c 01 6b 8c 8f80 76 00000002 6869");
    // The value's length is a two-byte number, wrong on purpose: 0x80 bytes are not there.
    assert_eq!(v2::decode(&put), Err(Damage::Form));
    let put =
        hex("deadbeef 0001 0000000000000007 0000000000000008 00 00000001 8c 01 6b 8c 01 76 00000002 6869 ff");
    let (record, len) = v2::decode(&put).unwrap();
    assert_eq!((record.stamp, len), (stamp(7, 8), put.len() - 1));
    let Body::Put { headers, body } = record.body else { panic!("a put") };
    assert_eq!((pairs(headers), body), (vec![(b"k".to_vec(), b"v".to_vec())], b"hi".as_slice()));
    let take = hex("deadbeef 0002 0000000000000007 0000000000000008 00000063 00000003");
    assert_eq!(v2::decode(&take).unwrap().0.body, Body::Take(Pointer { file: 3, offset: 99 }));
    let commit = hex("deadbeef 0004 0000000000000007 0000000000000008 0002");
    assert_eq!(v2::decode(&commit).unwrap().0.body, Body::Commit(Of::Takes));
    let wrong = hex("deadbeee 0003 0000000000000007 0000000000000008");
    assert_eq!(v2::decode(&wrong), Err(Damage::Form));
    let unknown = hex("deadbeef 8000 0000000000000007 0000000000000008");
    assert_eq!(v2::decode(&unknown), Err(Damage::Type(0x8000)));
    let header = v2::file_header(&hex("00000002 00000005 0000000000000018 0000000000000009")).unwrap();
    assert_eq!((header.file, header.checkpoint_position, header.checkpoint_order), (5, 24, 9));
}

proptest! {
    #[test]
    fn any_event_round_trips(
        set in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..200), prop::collection::vec(any::<u8>(), 0..200)), 0..6),
        body in prop::collection::vec(any::<u8>(), 0..40_000),
        transaction in 0..=i64::MAX as u64,
        order in 0..=i64::MAX as u64,
    ) {
        let (mut encoded, mut out) = (Vec::new(), b"before".to_vec());
        headers(&mut encoded, set.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
        put(&mut out, stamp(transaction, order), &encoded, &body);
        prop_assert_eq!(out.len() - 6, put_len(encoded.len(), body.len()));
        let record = check(&out[6..]).unwrap();
        prop_assert_eq!(record.stamp, stamp(transaction, order));
        let Body::Put { headers, body: read } = record.body else { panic!("a put") };
        prop_assert_eq!(headers.as_bytes(), encoded.as_slice());
        prop_assert_eq!(pairs(headers), set);
        prop_assert_eq!(read, body.as_slice());
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (frame(&bytes), decode(&bytes), v2::decode(&bytes), v2::file_header(&bytes));
    }
}
