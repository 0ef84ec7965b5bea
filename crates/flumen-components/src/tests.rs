//! What a configuration can name.

use flumen_core::registry::Registry;

#[test]
fn cfg_43_snk_03_types_go_by_short_name_in_any_case_and_by_class_name() {
    let registry = crate::register(Registry::new());
    for name in [
        "seq",
        "SEQ",
        "netcat",
        "org.apache.flume.source.SequenceGeneratorSource",
        "org.apache.flume.source.NetcatSource",
    ] {
        assert!(registry.find_source(name).is_some(), "{name}");
    }
    for name in [
        "null",
        "logger",
        "Logger",
        "file_roll",
        "org.apache.flume.sink.NullSink",
        "org.apache.flume.sink.LoggerSink",
        "org.apache.flume.sink.RollingFileSink",
    ] {
        assert!(registry.find_sink(name).is_some(), "{name}");
    }
    for name in ["replicating", "org.apache.flume.channel.ReplicatingChannelSelector"] {
        assert!(registry.find_selector(name).is_some(), "{name}");
    }
    for name in ["default", "org.apache.flume.sink.DefaultSinkProcessor"] {
        assert!(registry.find_processor(name).is_some(), "{name}");
    }
    for name in [
        "TEXT",
        "org.apache.flume.serialization.BodyTextEventSerializer$Builder",
        "header_and_text",
        "org.apache.flume.serialization.HeaderAndBodyTextEventSerializer$Builder",
    ] {
        assert!(registry.find_serializer(name).is_some(), "{name}");
    }
}

#[test]
fn snk_01_a_processor_is_the_same_by_alias_and_by_class_name() {
    let registry = crate::register(Registry::new());
    for (alias, class) in [
        ("failover", "org.apache.flume.sink.FailoverSinkProcessor"),
        ("load_balance", "org.apache.flume.sink.LoadBalancingSinkProcessor"),
        ("FAILOVER", "org.apache.flume.sink.FailoverSinkProcessor"),
    ] {
        let name = |name: &str| registry.find_processor(name).map(|entry| entry.info.names[0]);
        assert!(name(alias).is_some(), "{alias}");
        assert_eq!(name(alias), name(class));
    }
    assert_ne!(
        registry.find_processor("failover").map(|entry| entry.info.names[0]),
        registry.find_processor("load_balance").map(|entry| entry.info.names[0])
    );
}
