//! What is written is read, what is damaged is left out, and one of the two is always whole.

use super::*;
use crate::disk::simulated::SimulatedDisk;

fn sample(sequence: u64) -> Checkpoint {
    let run = |file, offset, count| Run { start: Pointer { file, offset }, count, bytes: 500 };
    Checkpoint {
        sequence,
        order: 77 + sequence,
        transaction: 12,
        file: 9,
        positions: vec![(8, 1 << 33), (9, 0)],
        missing: vec![5, u32::MAX],
        damaged: vec![6],
        runs: vec![run(4, 0, 3), run(9, u32::MAX, u32::MAX)],
    }
}

fn disk() -> (SimulatedDisk, &'static Path) {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(Path::new("/c")).unwrap();
    (disk, Path::new("/c"))
}

#[test]
fn two_files_take_turns_and_the_youngest_comes_first() {
    let (disk, dir) = disk();
    assert!(Checkpoint::read_all(&disk, dir).unwrap().is_empty());
    for sequence in 1..=3 {
        sample(sequence).write(&disk, dir).unwrap();
    }
    assert_eq!(Checkpoint::read_all(&disk, dir).unwrap(), [sample(3), sample(2)]);
    assert_eq!(sample(3).oldest_file(), Some(4));
    assert_eq!(Checkpoint::default().oldest_file(), None);
    Checkpoint::discard(&disk, dir).unwrap();
    Checkpoint::discard(&disk, dir).unwrap();
    assert!(Checkpoint::read_all(&disk, dir).unwrap().is_empty());
}

#[test]
fn a_flipped_bit_and_a_cut_are_noticed() {
    let whole = sample(5).encode();
    assert_eq!(Checkpoint::decode(&whole), Some(sample(5)));
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Checkpoint::decode(&damaged), None);
    }
    assert!((0..whole.len()).all(|len| Checkpoint::decode(&whole[..len]).is_none()));
    // A count that is wrong although the checksum is right drives no loop and no allocation.
    let mut wrong = whole[..whole.len() - 4].to_vec();
    wrong[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    let checksum = crc32c::crc32c(&wrong);
    wrong.extend_from_slice(&checksum.to_le_bytes());
    assert_eq!(Checkpoint::decode(&wrong), None);
}

#[test]
fn fix_10_fix_11_a_power_loss_at_any_call_leaves_one_of_the_last_two() {
    for call in 0..5 {
        for seed in 0..50 {
            let disk = SimulatedDisk::new(seed);
            disk.create_dir_all(Path::new("/c")).unwrap();
            (1..=2).for_each(|sequence| sample(sequence).write(&disk, Path::new("/c")).unwrap());
            disk.fail_at(disk.calls() + call, crate::disk::simulated::Fault::PowerLoss);
            let failed = sample(3).write(&disk, Path::new("/c")).is_err();
            disk.lose_power();
            let found = Checkpoint::read_all(&disk, Path::new("/c")).unwrap();
            assert!(found[0] == sample(2) || found[0] == sample(3), "call {call}, seed {seed}");
            assert!(failed || found[0] == sample(3));
        }
    }
}
