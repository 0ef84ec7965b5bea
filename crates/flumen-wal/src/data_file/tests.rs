//! Names, metas, ciphers, and what a scanner makes of a file.

use super::*;
use crate::{
    disk::{Disk, DiskFile, Mode, simulated::SimulatedDisk},
    record::{self, Of, Stamp},
};
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn fch_66_only_log_and_digits_is_a_data_file() {
    assert_eq!((file_number("log-7"), file_number("log-2147483647")), (Some(7), Some(2_147_483_647)));
    for name in [
        "log-",
        "log-0",
        "log-2147483648",
        "log-7.meta",
        "log-7x",
        "log-+7",
        "log-99999999999",
        "blog-7",
        "log-3.gz",
    ] {
        assert_eq!(file_number(name), None, "{name}");
    }
}

/// Written by Java Flume 1.11 after a checkpoint.
const JAVA_META: [u8; 47] = [
    0x2e, 0x0d, 3, 0, 0, 0, 0x15, 1, 0, 0, 0, 0x19, 0x99, 1, 0, 0, 0, 0, 0, 0, 0x21, 0xa9, 0xa9, 0xd7, 0x2c,
    0xa2, 1, 0, 0, 0x31, 0, 0, 0, 0, 0, 0, 0, 0, 0x39, 0x9e, 0xa9, 0xd7, 0x2c, 0xa2, 1, 0, 0,
];

#[test]
fn a_meta_is_read_and_written_as_java_does() {
    let meta = Meta::decode(&JAVA_META).unwrap();
    assert_eq!((meta.file, meta.checkpoint_position, meta.checkpoint_order), (1, 0x199, 0x01a2_2cd7_a9a9));
    assert_eq!((meta.backup_position, meta.backup_order), (0, 0x01a2_2cd7_a99e));
    assert_eq!(meta.encode(), JAVA_META);
    let encryption = Encryption {
        cipher_provider: "AESCTRNOPADDING".into(),
        key_alias: "key-0".into(),
        parameters: vec![1; 16],
    };
    let encrypted = Meta::new(9, Some(encryption));
    assert_eq!(Meta::decode(&encrypted.encode()), Some(encrypted.clone()));
    assert!((0..encrypted.encode().len()).all(|len| Meta::decode(&encrypted.encode()[..len]).is_none()));
}

#[test]
fn fch_72_a_meta_is_found_under_the_names_that_a_cut_renaming_leaves() {
    let disk = SimulatedDisk::new(1);
    let dir = Path::new("/d");
    disk.create_dir_all(dir).unwrap();
    let write = |name: &str, position: u64| {
        let mut meta = Meta::new(1, None);
        meta.checkpoint_position = position;
        disk.open(&dir.join(name), Mode::Replace).unwrap().write_at(0, &meta.encode()).unwrap();
    };
    assert_eq!(find_meta(&disk, dir, 1).unwrap(), FoundMeta::None);
    for (position, name) in [(1, "log-1.meta.meta.old"), (2, "log-1.meta.old"), (3, "log-1.meta.tmp")] {
        write(name, position);
        let found = find_meta(&disk, dir, 1).unwrap();
        assert_eq!(found.meta().unwrap().checkpoint_position, position);
        assert_eq!(found, FoundMeta::Aside(found.meta().unwrap().clone(), dir.join(name)));
    }
    write("log-1.meta", 4);
    assert!(
        matches!(find_meta(&disk, dir, 1).unwrap(), FoundMeta::Right(meta) if meta.checkpoint_position == 4)
    );
    // One that is of another file, empty or damaged is none.
    disk.damage(&dir.join("log-1.meta"), |bytes| bytes.clear());
    assert!(matches!(find_meta(&disk, dir, 1).unwrap(), FoundMeta::Aside(..)));
    write("log-2.meta", 5);
    assert_eq!(find_meta(&disk, dir, 2).unwrap(), FoundMeta::None);
}

#[test]
fn fch_81_the_cipher_is_aes_in_counter_mode() {
    // NIST SP 800-38A, F.5.1, F.5.3 and F.5.5: the first block under each length of key.
    let counter: Vec<u8> = (0xf0..=0xff).collect();
    let plain =
        [0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a];
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
    };
    for (key, expected) in [
        ("2b7e151628aed2a6abf7158809cf4f3c", "874d6191b620e3261bef6864990db6ce"),
        ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "1abc932417521ca24f2b0459fe7e6e0b"),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228",
        ),
    ] {
        let cipher = Cipher::new(&hex(key), &counter).unwrap();
        let mut bytes = plain;
        cipher.peek(0, &mut bytes);
        assert_eq!(bytes.to_vec(), hex(expected));
        // In pieces of any length the stream is the same, and twice is plain again; nothing stays nothing.
        let mut long = vec![0_u8; 1000];
        cipher.peek(0, &mut long);
        for len in [0, 1, 15, 16, 17, 127, 128, 129, 999] {
            let mut short = vec![0; len];
            cipher.peek(0, &mut short);
            assert_eq!(short, long[..len]);
            cipher.peek(0, &mut short);
            assert!(short.iter().all(|byte| *byte == 0));
        }
        assert_eq!(cipher.mask(7)[..], long[..24]);
    }
    assert_eq!(Cipher::new(&[0; 15], &counter).unwrap_err(), KeyLength { key: 15, counter: 16 });
    assert_eq!(Cipher::new(&[0; 16], &[0; 12]).unwrap_err(), KeyLength { key: 16, counter: 12 });
}

fn file_of(bytes: &[u8]) -> Arc<dyn DiskFile> {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/d")).unwrap();
    let file = disk.open(Path::new("/d/log-1"), Mode::Create).unwrap();
    file.write_at(0, bytes).unwrap();
    file
}

/// Starts of records, and kinds of gaps, with where they end.
fn shape(bytes: &[u8], cipher: Option<Arc<Cipher>>) -> Vec<(u64, u64, Option<GapKind>)> {
    let mut scanner = Scanner::new(file_of(bytes), 0, cipher).unwrap();
    let mut shape = Vec::new();
    while let Some(item) = scanner.next_item().unwrap() {
        match item {
            Item::Record { at, end, .. } => shape.push((at, end, None)),
            Item::Noop => {}
            Item::Gap(gap) => shape.push((gap.at, gap.end, Some(gap.kind))),
        }
    }
    shape
}

fn run_of(n_puts: u32) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for i in 0..n_puts {
        starts.push(bytes.len() as u64);
        record::put(&mut bytes, Stamp { transaction: 1, order: u64::from(i) + 1 }, &[], &[b'x'; 90]);
    }
    starts.push(bytes.len() as u64);
    record::commit(
        &mut bytes,
        Stamp { transaction: 1, order: u64::from(n_puts) + 1 },
        Of::Puts,
        n_puts + 1,
        0,
    );
    starts.push(bytes.len() as u64);
    (bytes, starts)
}

#[test]
fn records_are_read_encrypted_or_not_and_fill_ends_them() {
    let (mut bytes, starts) = run_of(3);
    let records: Vec<_> = starts.windows(2).map(|ends| (ends[0], ends[1], None)).collect();
    let fill = (starts[4], starts[4] + 100, Some(GapKind::Fill));
    let expected = [records, vec![fill]].concat();
    let filled = |bytes: &[u8]| [bytes, &[0x80; 100]].concat();
    assert_eq!(shape(&filled(&bytes), None), expected);
    let cipher = Arc::new(Cipher::new(&[7; 32], &[9; 16]).unwrap());
    bytes = filled(&cipher.encrypt_records(0, &bytes));
    assert_eq!(shape(&bytes, Some(cipher.clone())), expected);
    assert_eq!(shape(&bytes, None)[0].2, Some(GapKind::Damaged));
    // Behind damage the next record is found under the cipher too.
    bytes[0] = 0x55;
    assert_eq!(
        shape(&bytes, Some(cipher))[..2],
        [(0, starts[1], Some(GapKind::Damaged)), (starts[1], starts[2], None)]
    );
}

#[test]
fn what_was_never_written_is_told_from_what_is_damaged() {
    let (whole, starts) = run_of(20);
    let (from, to) = (starts[9] as usize, starts[10] as usize);
    let gap = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let gaps: Vec<_> = shape(&bytes, None).into_iter().filter(|item| item.2.is_some()).collect();
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        (gaps[0].0 as usize, gaps[0].1 as usize, gaps[0].2.unwrap())
    };
    assert_eq!(gap(&|bytes| bytes[from + 60] ^= 1), (from, to, GapKind::Damaged));
    assert_eq!(gap(&|bytes| bytes[from] ^= 1), (from, to, GapKind::Damaged));
    assert_eq!(gap(&|bytes| bytes[from + 2] ^= 1), (from, to, GapKind::Damaged));
    assert_eq!(gap(&|bytes| bytes[from..to].fill(0)), (from, to, GapKind::Zeros));
    assert_eq!(gap(&|bytes| bytes[from..to].fill(0x80)), (from, to, GapKind::Fill));
    assert_eq!(gap(&|bytes| bytes[from + 50..to].fill(0)), (from, to, GapKind::Torn));
    assert_eq!(gap(&|bytes| bytes[from + 3..to].fill(0)), (from, to, GapKind::Torn));
    assert_eq!(gap(&|bytes| bytes[from + 1..to].fill(0x80)), (from, to, GapKind::Torn));
    let end = whole.len();
    for cut in 1..record::COMMIT_LEN {
        assert_eq!(
            gap(&|bytes| bytes.truncate(end - cut)),
            (starts[20] as usize, end - cut, GapKind::Torn),
            "{cut}"
        );
    }
}

#[test]
fn a_noop_is_believed_where_something_begins_behind_it() {
    let (whole, starts) = run_of(20);
    let (from, to) = (starts[5], starts[8]);
    let mut bytes = whole.clone();
    bytes[from as usize..][..5].copy_from_slice(&record::noop(to - from).unwrap());
    assert!(shape(&bytes, None).iter().all(|item| item.2.is_none()));
    assert_eq!(shape(&bytes, None).len(), 21 - 3);
    // A length that swallows half a record is damage, and costs no record but its own.
    bytes[from as usize..][..5].copy_from_slice(&record::noop(to - from + 7).unwrap());
    let gaps: Vec<_> = shape(&bytes, None).into_iter().filter(|item| item.2.is_some()).collect();
    assert_eq!(gaps, [(from, starts[6], Some(GapKind::Damaged))]);
}

#[test]
fn records_inside_of_a_damaged_body_are_not_taken_for_records() {
    let (inner, _) = run_of(2);
    let mut bytes = Vec::new();
    record::put(&mut bytes, Stamp { transaction: 1, order: 1 }, &[], &inner);
    let end = bytes.len() as u64;
    record::rollback(&mut bytes, Stamp { transaction: 2, order: 2 }, 1);
    bytes[40] ^= 1;
    assert_eq!(shape(&bytes, None), [(0, end, Some(GapKind::Damaged)), (end, bytes.len() as u64, None)]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(
        parts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                Just(run_of(2).0),
                Just(vec![0x80; 30]),
                Just(vec![0; 30]),
                Just(vec![0, 0, 0, 0, 9]),
                Just(vec![0x7f, 0, 0, 0, 0x40, 0x17]),
            ],
            0..12,
        ),
        encrypted in any::<bool>(),
    ) {
        let bytes = parts.concat();
        let cipher = encrypted.then(|| Arc::new(Cipher::new(&[7; 16], &[9; 16]).unwrap()));
        let mut last = 0;
        for (at, end, _) in shape(&bytes, cipher) {
            prop_assert!(last <= at && at < end && end <= bytes.len() as u64);
            last = end;
        }
    }
}
