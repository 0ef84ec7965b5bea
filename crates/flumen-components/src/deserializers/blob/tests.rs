//! Whole files, and files in parts.

use super::*;
use flumen_core::{
    config::{Settings, read},
    serialize::OnBadText,
};

fn all(pairs: &[(&str, &str)], content: &[u8], most: Most, place: Place) -> Vec<Vec<u8>> {
    let config = read::<BlobConfig>(&Settings::from_pairs("d", pairs), &[]).0.unwrap();
    let mut blob = BlobDeserializer::new(config);
    let text = TextInput { charset: "UTF-8".to_owned(), on_bad: OnBadText::Fail };
    blob.start(&Held(content), &text, place).unwrap();
    let mut all = Vec::new();
    loop {
        let mut batch = Batch::new();
        blob.read(&Held(content), &Headers::new(), most, &mut batch).unwrap();
        if batch.is_empty() {
            return all;
        }
        all.extend(batch.iter().map(|event| event.body.to_vec()));
    }
}

struct Held<'a>(&'a [u8]);

impl Input for Held<'_> {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> std::io::Result<usize> {
        Input::read_at(self.0, buffer, offset)
    }
}

const MANY: Most = Most { events: 100, bytes: usize::MAX };

#[test]
fn ser_17_a_file_is_one_event_with_its_newlines() {
    assert_eq!(all(&[], b"line 1\nline 2\n", MANY, Place::default()), [b"line 1\nline 2\n"]);
    assert!(all(&[], b"line 1\nline 2\n", MANY, Place { offset: 14, skip: 0 }).is_empty());
    let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(all(&[], &large, MANY, Place::default()), [large]);
}

#[test]
fn ser_18_a_longer_file_becomes_several_events() {
    let ten = [("maxBlobLength", "10")];
    let content = b"abcdefghijklmnopqrstuvwxyz\n";
    let expected = [&content[..10], &content[10..20], &content[20..]];
    assert_eq!(all(&ten, content, MANY, Place::default()), expected);
    assert_eq!(all(&ten, content, Most { events: 1, bytes: 1 }, Place::default()), expected);
    assert_eq!(all(&ten, content, MANY, Place { offset: 10, skip: 0 }), expected[1..]);
    assert_eq!(all(&[("maxBlobLength", "27")], content, MANY, Place::default()), [content]);
}
