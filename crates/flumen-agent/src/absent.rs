//! Types of Flume's that are known and not there, each with what to do instead, so that they are never called unknown.

use flumen_core::registry::{Absent, Kind};

/// What is said where there is nothing better: the type is on its way.
const LATER: &str = "it is to come; until then keep the part with Java Flume, or use another type";

/// What is said by a program that was built without the feature `kafka`.
const WITHOUT_KAFKA: &str =
    "this program was built without Kafka: use one that has it, as all released ones do";

/// A row of the list.
const fn absent(kind: Kind, names: &'static [&'static str], instead: &'static str) -> Absent {
    Absent { kind, names, instead }
}

/// All of them. A type that is registered wins over its row here.
pub(crate) const TYPES: &[Absent] = &[
    absent(
        Kind::Source,
        &["avroLegacy", "org.apache.flume.source.avroLegacy.AvroLegacySource"],
        "Flume OG has been gone since 2012: use the avro protocol of Flume 1.x",
    ),
    absent(
        Kind::Source,
        &["embedded", "org.apache.flume.agent.embedded.EmbeddedSource"],
        "it belongs to the embedded agent, a library for programs",
    ),
    absent(Kind::Source, &["jms", "org.apache.flume.source.jms.JMSSource"], LATER),
    absent(Kind::Source, &["org.apache.flume.source.kafka.KafkaSource", "kafka"], WITHOUT_KAFKA),
    absent(
        Kind::Source,
        &["org.apache.flume.source.scribe.ScribeSource"],
        "Scribe is gone: send by http, avro or syslog",
    ),
    absent(
        Kind::Source,
        &["org.apache.flume.source.thriftLegacy.ThriftLegacySource"],
        "Flume OG has been gone since 2012: use the thrift protocol of Flume 1.x",
    ),
    absent(
        Kind::Source,
        &["org.apache.flume.source.twitter.TwitterSource"],
        "the interface that it reads was switched off in 2023",
    ),
    absent(Kind::Channel, &["jdbc", "org.apache.flume.channel.jdbc.JdbcChannel"], LATER),
    absent(Kind::Channel, &["org.apache.flume.channel.kafka.KafkaChannel", "kafka"], WITHOUT_KAFKA),
    absent(Kind::Channel, &["spillablememory", "org.apache.flume.channel.SpillableMemoryChannel"], LATER),
    absent(
        Kind::Channel,
        &["org.apache.flume.channel.PseudoTxnMemoryChannel"],
        "it was for tests and loses events: use `memory`",
    ),
    absent(
        Kind::Channel,
        &["org.apache.flume.channel.recoverable.memory.RecoverableMemoryChannel"],
        "Flume dropped it for the file channel",
    ),
    absent(
        Kind::Channel,
        &["fanout", "org.apache.flume.channel.FanoutChannel"],
        "Flume never had it: name several channels in the source",
    ),
    absent(Kind::Sink, &["asynchbase", "org.apache.flume.sink.hbase.AsyncHBaseSink"], LATER),
    absent(
        Kind::Sink,
        &["org.apache.flume.sink.kite.DatasetSink"],
        "Kite is gone: write files with the hdfs sink",
    ),
    absent(Kind::Sink, &["elasticsearch", "org.apache.flume.sink.elasticsearch.ElasticSearchSink"], LATER),
    absent(Kind::Sink, &["hbase", "org.apache.flume.sink.hbase.HBaseSink"], LATER),
    absent(Kind::Sink, &["hbase2", "org.apache.flume.sink.hbase2.HBase2Sink"], LATER),
    absent(Kind::Sink, &["hdfs", "org.apache.flume.sink.hdfs.HDFSEventSink"], LATER),
    absent(Kind::Sink, &["hive", "org.apache.flume.sink.hive.HiveSink"], LATER),
    absent(Kind::Sink, &["irc", "org.apache.flume.sink.irc.IRCSink"], LATER),
    absent(Kind::Sink, &["org.apache.flume.sink.kafka.KafkaSink", "kafka"], WITHOUT_KAFKA),
    absent(Kind::Sink, &["org.apache.flume.sink.kudu.KuduSink"], LATER),
    absent(
        Kind::Sink,
        &["org.apache.flume.sink.solr.morphline.MorphlineSink"],
        "morphlines are Java programs and cannot be run",
    ),
    absent(
        Kind::Sink,
        &["morphline_solr", "org.apache.flume.sink.solr.morphline.MorphlineSolrSink"],
        "morphlines are Java programs and cannot be run",
    ),
    absent(
        Kind::Interceptor,
        &["org.apache.flume.sink.solr.morphline.MorphlineInterceptor$Builder", "morphline"],
        "morphlines are Java programs and cannot be run: use regex_extractor or search_replace",
    ),
    absent(Kind::Serializer, &["org.apache.flume.sink.hdfs.AvroEventSerializer$Builder"], LATER),
];
