//! Random, another one for each event, and only where wanted.

use super::super::tests::{events, headers, intercepted};
use crate::testing::batch_of;
use flumen_java::text::Uuid;
use std::collections::BTreeSet;

#[test]
fn each_event_gets_a_uuid_of_its_own() {
    let set = intercepted("uuid", &[("prefix", "p-")], batch_of(&["a"; 50]));
    let ids: BTreeSet<String> = headers(&set).into_iter().collect();
    assert_eq!(ids.len(), 50);
    for id in &ids {
        let uuid = Uuid::parse(id.strip_prefix("id=p-").unwrap()).unwrap();
        assert_eq!((uuid.version(), uuid.variant()), (4, 2));
    }
}

#[test]
fn an_id_stays_unless_preserve_existing_is_false() {
    let batch = || events(&[(&[("id", "old")], "a"), (&[], "b")]);
    let kept = headers(&intercepted("uuid", &[], batch()));
    assert_eq!(kept[0], "id=old");
    assert!(kept[1].len() == "id=".len() + 36, "{kept:?}");
    let replaced = headers(&intercepted("uuid", &[("preserveExisting", "false")], batch()));
    assert_ne!(replaced[0], "id=old");
}
