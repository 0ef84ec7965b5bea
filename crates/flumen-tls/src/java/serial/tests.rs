//! Streams made by hand: the good, the hostile and the cut.

use super::*;

fn utf(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

/// A class description without its parent.
fn class(name: &str, flags: u8, fields: &[(u8, &str, &str)]) -> Vec<u8> {
    let mut out = vec![TC_CLASSDESC];
    out.extend(utf(name));
    out.extend([7; 8]);
    out.push(flags);
    out.extend((fields.len() as u16).to_be_bytes());
    for (kind, name, class) in fields {
        out.push(*kind);
        out.extend(utf(name));
        if !class.is_empty() {
            out.push(TC_STRING);
            out.extend(utf(class));
        }
    }
    out.push(TC_ENDBLOCKDATA);
    out
}

fn secret_key() -> Vec<u8> {
    let fields = [(b'I', "n", ""), (b'L', "algorithm", "Ljava/lang/String;"), (b'[', "key", "[B")];
    let mut out = MAGIC_AND_VERSION.to_vec();
    out.push(TC_OBJECT);
    out.extend(class("javax.crypto.spec.SecretKeySpec", SC_SERIALIZABLE, &fields));
    out.push(TC_NULL);
    out.extend([0, 0, 0, 9, TC_STRING]);
    out.extend(utf("AES"));
    out.push(TC_ARRAY);
    out.extend(class("[B", SC_SERIALIZABLE, &[]));
    out.extend([TC_NULL, 0, 0, 0, 3, 1, 2, 3]);
    out
}

#[test]
fn an_object_is_read_and_what_follows_left_alone() {
    let mut stream = secret_key();
    let length = stream.len();
    stream.extend([1, 2, 3]);
    let (object, n_bytes) = read(&stream).ok().unwrap();
    assert_eq!(
        (object.text("algorithm"), object.bytes("key"), n_bytes),
        (Some("AES"), Some(&[1, 2, 3][..]), length)
    );
    assert_eq!((object.text("key"), object.bytes("n"), object.constant("algorithm")), (None, None, None));
}

#[test]
fn every_cut_is_told_as_one() {
    let stream = secret_key();
    for n in 0..stream.len() {
        assert_eq!(read(&stream[..n]).err(), Some(SerialError::Cut), "{n}");
    }
}

#[test]
fn classes_that_have_no_business_here_are_refused_by_name() {
    let mut stream = [&MAGIC_AND_VERSION[..], &[TC_OBJECT]].concat();
    stream.extend(class("java.util.HashMap", SC_SERIALIZABLE | SC_WRITE_METHOD, &[]));
    assert_eq!(read(&stream).err(), Some(SerialError::UnknownClass("java.util.HashMap".to_owned())));
}

#[test]
fn nesting_and_numbers_have_limits() {
    // Parents of parents of parents.
    let mut deep = [&MAGIC_AND_VERSION[..], &[TC_OBJECT]].concat();
    deep.extend(class("javax.crypto.SealedObject", SC_SERIALIZABLE, &[]).repeat(1000));
    assert_eq!(read(&deep).err(), Some(SerialError::Bad("objects nest too deeply")));

    // Objects in the first field of objects, all of the class of the first.
    let mut deep = [&MAGIC_AND_VERSION[..], &[TC_OBJECT]].concat();
    deep.extend(class("javax.crypto.SealedObject", SC_SERIALIZABLE, &[(b'L', "a", "x")]));
    deep.push(TC_NULL);
    deep.extend([TC_OBJECT, TC_REFERENCE, 0, 0x7e, 0, 0].repeat(1000));
    assert_eq!(read(&deep).err(), Some(SerialError::Bad("objects nest too deeply")));

    let fields: Vec<_> = (0..17).map(|_| (b'I', "a", "")).collect();
    let mut wide = [&MAGIC_AND_VERSION[..], &[TC_OBJECT]].concat();
    wide.extend(class("javax.crypto.SealedObject", SC_SERIALIZABLE, &fields));
    assert_eq!(read(&wide).err(), Some(SerialError::Bad("a class of too many fields")));
}

#[test]
fn an_object_cannot_refer_to_itself() {
    let mut stream = [&MAGIC_AND_VERSION[..], &[TC_OBJECT]].concat();
    stream.extend(class("javax.crypto.SealedObject", SC_SERIALIZABLE, &[(b'L', "a", "x")]));
    stream.push(TC_NULL);
    // Handles: 0 the class, 1 the type's name, 2 the object.
    stream.extend([TC_REFERENCE, 0, 0x7e, 0, 2]);
    assert_eq!(read(&stream).err(), Some(SerialError::Bad("a reference to something else than a value")));
    *stream.last_mut().unwrap() = 1;
    assert_eq!(read(&stream).ok().unwrap().0.text("a"), Some("x"));
    *stream.last_mut().unwrap() = 9;
    assert_eq!(read(&stream).err(), Some(SerialError::Bad("a reference to nothing")));
}
