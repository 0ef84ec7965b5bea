//! Single events; whole files are compared with Java's by the tests of the file_roll sink.

use super::*;
use flumen_core::{
    config::{Problem, Settings, read},
    event::{Batch, Headers},
};

fn config(pairs: &[(&str, &str)]) -> (Option<AvroEventConfig>, Vec<Problem>) {
    read::<AvroEventConfig>(&Settings::from_pairs("a.sinks.k.sink.serializer", pairs), &[])
}

#[test]
fn a_block_has_the_bytes_that_java_writes() {
    let mut serializer = AvroEventSerializer::new(config(&[]).0.unwrap(), [9; 16]);
    let mut batch = Batch::new();
    batch.push(Headers::from_iter([("k", "v")]), &b"hello"[..]);
    batch.push(Headers::new(), &b"x"[..]);
    let mut out = Vec::new();
    serializer.begin(&mut out).unwrap();
    let front = out.len();
    batch.iter().for_each(|event| serializer.write(event, &mut out).unwrap());
    assert_eq!(out.len(), front, "a block is gathered");
    serializer.flush(&mut out).unwrap();
    let expected = [&b"\x04\x1e\x02\x02k\x02v\x00\x0ahello\x00\x02x"[..], &[9; 16]].concat();
    assert_eq!(out[front..], expected);
    serializer.flush(&mut out).unwrap();
    serializer.end(&mut out).unwrap();
    assert_eq!(out.len(), front + expected.len(), "nothing is written of no events");
}

#[test]
fn codecs_and_intervals_that_are_none_are_told() {
    let (read, problems) = config(&[("compressionCodec", "nope")]);
    assert_eq!(read.unwrap().compression_codec, CompressionCodec(None));
    assert!(problems[0].to_string().contains("snappy"), "{problems:?}");
    assert_eq!(
        config(&[("compressionCodec", "Snappy")]).0.unwrap().compression_codec,
        CompressionCodec(Some(Codec::Snappy))
    );
    for bytes in ["31", "1073741825"] {
        assert!(config(&[("syncIntervalBytes", bytes)]).0.is_none(), "{bytes}");
    }
}
