//! The ways of speaking: Avro and Thrift, plain, compressed and with TLS.

/// One way of speaking, by the keys of a source and of a sink. Java's and ours are the same, and those of clients are a sink's.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) source: Vec<(&'static str, String)>,
    pub(crate) sink: Vec<(&'static str, String)>,
}

pub(crate) fn store(name: &str) -> String {
    format!("{}/../parity/golden/keystores/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

impl Way {
    fn new(name: &'static str, protocol: &'static str, deflate: bool, tls: bool, binary: bool) -> Self {
        let (mut source, mut sink) = (Vec::new(), Vec::new());
        for (wanted, key, value) in
            [(deflate, "compression-type", "deflate"), (binary, "protocol", "binary"), (tls, "ssl", "true")]
        {
            if wanted {
                source.push((key, value.to_owned()));
                sink.push((key, value.to_owned()));
            }
        }
        if tls {
            source.extend([
                ("keystore", store("server.p12")),
                ("keystore-password", "changeit".to_owned()),
                ("keystore-type", "PKCS12".to_owned()),
            ]);
            sink.extend([
                ("truststore", store("truststore.jks")),
                ("truststore-password", "changeit".to_owned()),
            ]);
        }
        Self { name, protocol, source, sink }
    }

    /// The plain way of a protocol.
    pub(crate) fn plain(protocol: &'static str) -> Self {
        Self::new("plain", protocol, false, false, false)
    }

    /// Options of the tool that say the same.
    pub(crate) fn options(pairs: &[(&'static str, String)]) -> Vec<String> {
        pairs.iter().flat_map(|(key, value)| ["--prop".to_owned(), format!("{key}={value}")]).collect()
    }
}

pub(crate) fn ways() -> Vec<Way> {
    vec![
        Way::plain("avro"),
        Way::new("deflate", "avro", true, false, false),
        Way::new("tls", "avro", false, true, false),
        Way::new("deflate and tls", "avro", true, true, false),
        Way::plain("thrift"),
        Way::new("binary", "thrift", false, false, true),
        Way::new("tls", "thrift", false, true, false),
        Way::new("binary and tls", "thrift", false, true, true),
    ]
}
