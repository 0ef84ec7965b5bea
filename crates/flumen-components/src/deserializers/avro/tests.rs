//! Avro data files of every codec: what events they become, and what damaged ones are told as.

use super::*;
use crate::{
    serializers::avro_event::{AvroEventConfig, AvroEventSerializer},
    shared::avro_file::{Codec, write_block, write_header, zigzag},
    testing::fixture,
};
use flumen_core::{
    config::{Settings, read},
    serialize::{EventSerializer, OnBadText},
};

const RECORD: &str = r#"{"type":"record","name":"MyRecord","fields":[{"name":"foo","type":"string"}]}"#;
const SYNC: [u8; 16] = [7; 16];

struct Held<'a>(&'a [u8]);

impl Input for Held<'_> {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> std::io::Result<usize> {
        Input::read_at(self.0, buffer, offset)
    }
}

fn avro(pairs: &[(&str, &str)]) -> AvroDeserializer {
    AvroDeserializer::new(read::<AvroConfig>(&Settings::from_pairs("d", pairs), &[]).0.unwrap())
}

fn started(content: &[u8], place: Place) -> Result<AvroDeserializer, String> {
    let mut avro = avro(&[]);
    let text = TextInput { charset: "UTF-8".to_owned(), on_bad: OnBadText::Fail };
    avro.start(&Held(content), &text, place).map_err(|error| error.to_string())?;
    Ok(avro)
}

fn batch(avro: &mut AvroDeserializer, content: &[u8], events: usize) -> (Batch, Option<String>) {
    let mut batch = Batch::new();
    let most = Most { events, bytes: usize::MAX };
    let read = avro.read(&Held(content), &Headers::new(), most, &mut batch);
    (batch, read.err().map(|error| error.to_string()))
}

fn bodies(batch: &Batch) -> Vec<Vec<u8>> {
    batch.iter().map(|event| event.body.to_vec()).collect()
}

fn record(text: &str) -> Vec<u8> {
    let mut datum = Vec::new();
    zigzag(text.len() as i64, &mut datum);
    datum.extend_from_slice(text.as_bytes());
    datum
}

/// A file with a block for each of these lists.
fn file(codec: Codec, blocks: &[&[&str]]) -> Vec<u8> {
    let mut file = Vec::new();
    write_header(
        &[("avro.schema", RECORD.as_bytes()), ("avro.codec", codec.name().as_bytes())],
        &SYNC,
        &mut file,
    );
    for block in blocks {
        let data: Vec<u8> = block.iter().flat_map(|text| record(text)).collect();
        write_block(block.len() as i64, &codec.pack(&data).unwrap(), &SYNC, &mut file);
    }
    file
}

#[test]
fn ser_03_bodies_are_the_bare_data_and_a_header_tells_the_schema() {
    for codec in Codec::ALL {
        let content = file(codec, &[&["bar", "baz"], &[], &["qux"]]);
        let mut avro = started(&content, Place::default()).unwrap();
        let (batch, bad) = batch(&mut avro, &content, 100);
        assert_eq!(bad, None, "{codec:?}");
        assert_eq!(bodies(&batch), [record("bar"), record("baz"), record("qux")], "{codec:?}");
        for event in batch.iter() {
            assert_eq!(event.headers.len(), 1);
            assert_eq!(event.headers.get(HASH_HEADER).unwrap().len(), 16);
        }
    }
}

#[test]
fn ser_04_a_place_leads_to_the_datum_behind_it_also_within_a_block() {
    let texts: Vec<String> = (0..20).map(|n| format!("datum {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let content = file(Codec::Deflate, &[&texts[..7], &texts[7..9], &texts[9..]]);
    let mut avro = started(&content, Place::default()).unwrap();
    for n in 0..=20 {
        let place = avro.place();
        let mut again = started(&content, place).unwrap();
        let (rest, _) = batch(&mut again, &content, 100);
        let expected: Vec<Vec<u8>> = texts[n..].iter().map(|text| record(text)).collect();
        assert_eq!(bodies(&rest), expected, "{place:?}");
        // Java's place: the marker in front of a block, where it reads all of that block again.
        let java = Place { skip: 0, ..place };
        let (rest, _) = batch(&mut started(&content, java).unwrap(), &content, 100);
        let block_start = if n < 7 {
            0
        } else if n < 9 {
            7
        } else if n < 20 {
            9
        } else {
            20
        };
        assert_eq!(rest.len(), 20 - block_start, "{n}");
        assert_eq!(batch(&mut avro, &content, 1).0.len(), usize::from(n < 20));
    }
}

#[test]
fn the_schema_is_told_by_java_s_hash_or_as_it_is() {
    let mut content = Vec::new();
    write_header(&[("avro.schema", b"\"int\"")], &SYNC, &mut content);
    write_block(1, b"\x02", &SYNC, &mut content);
    let text = TextInput { charset: "UTF-8".to_owned(), on_bad: OnBadText::Fail };
    for (kind, name, expected) in
        [("hash", HASH_HEADER, "8f5c393f1ad57572"), ("LITERAL", LITERAL_HEADER, "\"int\"")]
    {
        let mut avro = avro(&[("schemaType", kind)]);
        avro.start(&Held(&content), &text, Place::default()).unwrap();
        let (batch, _) = batch(&mut avro, &content, 1);
        assert_eq!(batch.get(0).unwrap().headers.get(name).unwrap().as_str(), expected);
    }
}

#[test]
fn java_s_own_files_are_read_with_every_codec() {
    for codec in ["null", "deflate", "snappy", "bzip2", "xz"] {
        let folder = fixture(&format!("sinks/roll-avro-{codec}"));
        let file = std::fs::read_dir(folder.join("out")).unwrap().next().unwrap().unwrap().path();
        let content = std::fs::read(file).unwrap();
        let mut avro = started(&content, Place::default()).unwrap();
        let (batch, bad) = batch(&mut avro, &content, 1000);
        assert_eq!(bad, None, "{codec}");
        let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap().lines().count();
        assert_eq!(batch.len(), expected, "{codec}");
    }
}

#[test]
fn a_damaged_or_cut_file_gives_what_is_whole_and_says_where_it_is_not() {
    let content = file(Codec::Null, &[&["one", "two"], &["three"]]);
    let first_end = content.len() - (2 + 6 + 16);
    for cut in first_end + 1..content.len() {
        let mut avro = started(&content[..cut], Place::default()).unwrap();
        let (batch, bad) = batch(&mut avro, &content[..cut], 100);
        assert_eq!(batch.len(), 2, "{cut}");
        assert!(bad.unwrap().starts_with(&format!("at byte {first_end}: ")), "{cut}");
    }
    let mut flipped = content.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let (batch, bad) = batch(&mut started(&flipped, Place::default()).unwrap(), &flipped, 100);
    assert_eq!(batch.len(), 2);
    assert!(bad.unwrap().contains("marker"));
    for cut in 1..content.len() - 60 {
        assert!(started(&content[..cut], Place::default()).is_err(), "{cut}");
    }
}

#[test]
fn counts_and_lengths_that_lie_drive_nothing() {
    let with = |schema: &str, count: i64, data: &[u8]| {
        let mut content = Vec::new();
        write_header(&[("avro.schema", schema.as_bytes())], &SYNC, &mut content);
        write_block(count, data, &SYNC, &mut content);
        content
    };
    let said = |content: &[u8]| {
        let mut avro = started(content, Place::default()).unwrap();
        batch(&mut avro, content, 10).1.expect("it is told")
    };
    assert!(said(&with("\"null\"", i64::MAX, b"")).contains("without bytes"));
    assert!(said(&with("\"string\"", 2, b"\x02x")).contains("datum 2"));
    let endless = r#"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#;
    assert!(said(&with(endless, 1, b"")).contains("levels"));
    // An array that says that it has more items than there could be: they have no bytes.
    let nulls = r#"{"type":"array","items":"null"}"#;
    let content = with(nulls, 1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00");
    let (batch, bad) = batch(&mut started(&content, Place::default()).unwrap(), &content, 10);
    assert_eq!((batch.len(), bad), (1, None));
    let mut long = Vec::new();
    write_header(&[("avro.schema", b"\"null\"")], &SYNC, &mut long);
    zigzag(1, &mut long);
    zigzag(1 << 40, &mut long);
    assert!(said(&long).contains("1073741824 bytes"));
}

#[test]
fn what_avro_event_writes_is_read_back() {
    let config = read::<AvroEventConfig>(&Settings::from_pairs("s", &[("compressionCodec", "snappy")]), &[]);
    let mut serializer = AvroEventSerializer::new(config.0.unwrap(), SYNC);
    let mut content = Vec::new();
    serializer.begin(&mut content).unwrap();
    let events = crate::testing::batch_of(&["one", "two", "three"]);
    events.iter().for_each(|event| serializer.write(event, &mut content).unwrap());
    serializer.flush(&mut content).unwrap();
    let (batch, bad) = batch(&mut started(&content, Place::default()).unwrap(), &content, 10);
    assert_eq!((batch.len(), bad), (3, None));
    assert!(batch.get(2).unwrap().body.ends_with(b"\x0athree"));
}
