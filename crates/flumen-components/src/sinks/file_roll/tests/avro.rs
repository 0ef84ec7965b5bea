//! Java's Avro data files, reproduced; and files that are finished by their size.

use super::*;
use crate::{
    shared::avro_file::{Header, next_block, read_header},
    testing::{RecordedEvent, batch_of, fixture, json_lines, sort_coded_headers},
};
use flumen_core::{event::Batch, sink::BlockingSink};

/// The header and each block, unpacked, with its count.
fn parts(content: &[u8]) -> (Vec<(String, Vec<u8>)>, Vec<(i64, Vec<u8>)>) {
    struct Held<'a>(&'a [u8]);
    impl flumen_core::serialize::Input for Held<'_> {
        fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> std::io::Result<usize> {
            flumen_core::serialize::Input::read_at(self.0, buffer, offset)
        }
    }
    let Header { metadata, sync, len } = read_header(&Held(content)).unwrap();
    let codec = Header { metadata: metadata.clone(), sync, len }.codec().unwrap();
    let (mut blocks, mut at) = (Vec::new(), len as u64);
    while let Some(block) = next_block(&Held(content), at, &sync).unwrap() {
        blocks.push((block.count, codec.unpack(block.packed).unwrap()));
        at = block.end;
    }
    (metadata, blocks)
}

/// Writes what a folder of recorded results says, and compares the file with Java's, block by block. `packed`: the bytes of
/// blocks may be packed another way.
fn compare_with_java(name: &str, pairs: &[(&str, &str)], packed: bool) {
    let recorded = fixture(&format!("sinks/roll-avro-{name}"));
    let java = files(&recorded.join("out"));
    let java: Vec<u8> = java[0].1.chars().map(|c| c as u8).collect();
    let directory = tempfile::tempdir().unwrap();
    let all = [&[("sink.rollInterval", "0"), ("sink.serializer", "avro_event")][..], pairs].concat();
    let mut sink = rolling(directory.path(), &all, &Arc::new(SetClock::at(1)));
    let mut events: Vec<RecordedEvent> = json_lines(&format!("sinks/roll-avro-{name}/expected.jsonl"));
    let plain: Vec<u8> = parts(&java).1.into_iter().flat_map(|(_, data)| data).collect();
    sort_coded_headers(&mut events, &plain);
    let mut events = events.iter();
    for line in fs::read_to_string(recorded.join("batches.txt")).unwrap().lines() {
        let n_events = line.rsplit(' ').next().unwrap().parse().unwrap();
        let mut batch = Batch::new();
        events.by_ref().take(n_events).for_each(|event| event.push(&mut batch));
        sink.deliver_at(&batch, Instant::now()).unwrap();
    }
    assert!(events.next().is_none(), "{name}: all events were delivered");
    sink.close().unwrap();
    let ours: Vec<u8> = files(directory.path())[0].1.chars().map(|c| c as u8).collect();
    let (our_parts, java_parts) = (parts(&ours), parts(&java));
    assert_eq!(our_parts.0, java_parts.0, "{name}: schema and codec");
    assert_eq!(our_parts.1.len(), java_parts.1.len(), "{name}: blocks");
    for (our, java) in our_parts.1.iter().zip(&java_parts.1) {
        assert_eq!(our, java, "{name}");
    }
    if !packed {
        let sync = |content: &[u8]| content[content.len() - 16..].to_vec();
        let (old, new) = (sync(&ours), sync(&java));
        let mut ours = ours;
        while let Some(at) = memchr::memmem::find(&ours, &old) {
            ours[at..at + 16].copy_from_slice(&new);
        }
        assert!(ours == java, "{name}: every byte but the marker");
    }
}

#[test]
fn ser_11_javas_avro_files_are_reproduced_with_every_codec() {
    compare_with_java("null", &[("sink.serializer.compressionCodec", "null")], false);
    compare_with_java("nope", &[("sink.serializer.compressionCodec", "nope")], false);
    compare_with_java("sync", &[("sink.serializer.syncIntervalBytes", "200")], false);
    for codec in ["deflate", "snappy", "bzip2", "xz"] {
        compare_with_java(codec, &[("sink.serializer.compressionCodec", codec)], true);
    }
}

#[test]
fn after_so_many_bytes_the_next_batch_begins_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let pairs = [("sink.rollSize", "6"), ("sink.rollInterval", "0"), ("sink.fsync", "batch")];
    let mut sink = rolling(directory.path(), &pairs, &Arc::new(SetClock::at(5)));
    let start = Instant::now();
    let mut settled = 0;
    for bodies in [&["123"][..], &["456", "7"], &["8"], &["a long one"], &["9"]] {
        sink.deliver_at(&batch_of(bodies), start).unwrap();
        settled += sink.settled().unwrap();
    }
    sink.close().unwrap();
    settled += sink.settled().unwrap();
    let expected = [("5-1", "123\n456\n7\n"), ("5-2", "8\na long one\n"), ("5-3", "9\n")];
    assert_eq!(files(directory.path()), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(settled, 5, "what was held back for a sync is settled when its file is finished");
}
