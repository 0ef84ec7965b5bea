//! Names are found in any case, and what is absent is never called unknown.

use super::*;

#[test]
fn an_empty_registry_knows_what_is_absent() {
    let absent =
        Absent { kind: Kind::Sink, names: &["hive", "org.example.Hive"], instead: "use the hdfs sink" };
    let registry = Registry::new().absent(&[absent]);
    assert_eq!(
        registry.find_absent(Kind::Sink, "HIVE").map(|found| found.instead),
        Some("use the hdfs sink")
    );
    assert!(registry.find_absent(Kind::Source, "hive").is_none());
    assert!(registry.find_sink("hive").is_none());
}
