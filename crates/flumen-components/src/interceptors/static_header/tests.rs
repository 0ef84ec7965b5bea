//! One header, the same for all.

use super::super::tests::{events, headers, intercepted};

#[test]
fn int_29_without_settings_key_is_value() {
    assert_eq!(headers(&intercepted("static", &[], events(&[(&[], "b")]))), ["key=value"]);
}

#[test]
fn int_30_key_and_value_are_as_set() {
    let set = intercepted("static", &[("key", "myKey"), ("value", "myVal")], events(&[(&[], "b")]));
    assert_eq!(headers(&set), ["myKey=myVal"]);
}

#[test]
fn int_31_a_header_stays_unless_preserve_existing_is_false() {
    let batch = || events(&[(&[("key", "old")], "b"), (&[("other", "o")], "c")]);
    assert_eq!(headers(&intercepted("static", &[], batch())), ["key=old", "key=value other=o"]);
    let replaced = intercepted("static", &[("preserveExisting", "false")], batch());
    assert_eq!(headers(&replaced), ["key=value", "key=value other=o"]);
}
