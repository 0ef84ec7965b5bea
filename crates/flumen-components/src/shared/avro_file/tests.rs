//! Fingerprints of the specification, and data of every type.

use super::{Codec, Schema};

#[test]
fn fingerprints_are_those_of_the_canonical_form() {
    // Of the specification's own list for its reference implementations.
    for (schema, expected) in [
        ("\"null\"", 0x63dd_24e7_cc25_8f8a_u64),
        ("{\"type\":\"null\"}", 0x63dd_24e7_cc25_8f8a),
        ("\"int\"", 0x7275_d51a_3f39_5c8f),
        ("\"string\"", 0x8f01_4872_6345_03c7),
    ] {
        assert_eq!(Schema::parse(schema).unwrap().fingerprint(), expected, "{schema}");
    }
    let plain = r#"{"name":"a.b.R","type":"record","fields":[{"name":"f","type":["null","a.b.R"]},{"name":"e","type":{"name":"a.b.E","type":"enum","symbols":["X","Y"]}},{"name":"x","type":{"name":"c.F","type":"fixed","size":3}},{"name":"m","type":{"type":"map","values":{"type":"array","items":"long"}}}]}"#;
    let long = r#" { "doc" : "x", "type" : "record", "name" : "R", "namespace" : "a.b", "aliases" : ["Q"], "fields" : [
        { "name" : "f", "type" : [ "null", "R" ], "default" : null },
        { "type" : { "type" : "enum", "symbols" : ["X", "Y"], "name" : "E" }, "name" : "e" },
        { "name" : "x", "type" : { "type" : "fixed", "size" : 3, "name" : "c.F" } },
        { "name" : "m", "type" : { "type" : "map", "values" : { "items" : { "type" : "long", "logicalType" : "t" }, "type" : "array" } } } ] }"#;
    let (plain, long) = (Schema::parse(plain).unwrap(), Schema::parse(long).unwrap());
    assert_eq!(plain.fingerprint(), long.fingerprint());
}

#[test]
fn data_of_every_type_are_passed_over() {
    let schema = r#"{"type":"record","name":"R","fields":[
        {"name":"n","type":"null"},{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},
        {"name":"f","type":"float"},{"name":"d","type":"double"},{"name":"y","type":"bytes"},{"name":"s","type":"string"},
        {"name":"x","type":{"type":"fixed","name":"F","size":3}},{"name":"e","type":{"type":"enum","name":"E","symbols":["A"]}},
        {"name":"a","type":{"type":"array","items":"int"}},{"name":"m","type":{"type":"map","values":"F"}},
        {"name":"u","type":["null","string"]},{"name":"again","type":["null","R"]}]}"#;
    let schema = Schema::parse(schema).unwrap();
    let mut datum = vec![1, 2, 0x80, 0x01];
    datum.extend_from_slice(&[0; 12]);
    datum.extend_from_slice(b"\x04ab\x02c\x01\x02\x03\x00");
    // An array in a block whose bytes are counted, one that is not, and the end; a map; a union; no other record.
    datum.extend_from_slice(b"\x03\x04\x02\x04\x02\x06\x00");
    datum.extend_from_slice(b"\x02\x02kxyz\x00");
    datum.extend_from_slice(b"\x02\x02u\x00");
    assert_eq!(schema.datum_len(&datum), Ok(datum.len()));
    assert_eq!(schema.datum_len(&[&datum[..], b"rest"].concat()), Ok(datum.len()));
    for cut in 0..datum.len() {
        assert!(schema.datum_len(&datum[..cut]).is_err(), "{cut}");
    }
    let mut bad = datum.clone();
    *bad.last_mut().unwrap() = 8;
    assert!(schema.datum_len(&bad).unwrap_err().to_string().contains("branch"));
}

#[test]
fn schemas_that_are_none_are_told() {
    for schema in [
        "",
        "5",
        "{}",
        "\"R\"",
        r#"{"type":"record","name":"R"}"#,
        r#"{"type":"enum","name":"E"}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"fixed","name":"F","size":-1}"#,
        r#"{"type":"record","fields":[]}"#,
        r#"{"type":"record","name":"R","fields":[{"name":"x"}]}"#,
    ] {
        assert!(Schema::parse(schema).is_err(), "{schema}");
    }
}

#[test]
fn packed_blocks_come_back_and_damaged_ones_are_told() {
    let data: Vec<u8> = (0..100_000_u32).map(|n| (n / 100) as u8).collect();
    for codec in Codec::ALL {
        let packed = codec.pack(&data).unwrap();
        assert_eq!(codec.unpack(packed.clone()).unwrap(), data, "{codec:?}");
        if codec != Codec::Null {
            assert!(packed.len() < data.len(), "{codec:?}");
            let error = codec.unpack(packed[..packed.len() / 2].to_vec()).unwrap_err();
            assert!(error.to_string().contains(codec.name()), "{error}");
        }
        assert_eq!(Codec::of_name(codec.name()), Some(codec));
    }
    let mut snappy = Codec::Snappy.pack(&data).unwrap();
    *snappy.last_mut().unwrap() ^= 1;
    assert!(Codec::Snappy.unpack(snappy).unwrap_err().to_string().contains("checksum"));
    // A length of 4 GiB in a few bytes.
    assert!(Codec::Snappy.unpack(b"\xff\xff\xff\xff\x0f\x00\x00\x00\x00\x00".to_vec()).is_err());
}
