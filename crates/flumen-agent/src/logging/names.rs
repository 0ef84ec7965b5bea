//! Loggers of Java by name, and our modules: which component is behind a name, in both directions.

use flumen_core::registry::{Kind, Registry};
use std::collections::BTreeMap;

const KINDS: [Kind; 8] = [
    Kind::Source,
    Kind::Channel,
    Kind::Sink,
    Kind::Interceptor,
    Kind::Selector,
    Kind::SinkProcessor,
    Kind::Serializer,
    Kind::Deserializer,
];

/// Java's classes and packages that are no component, and what does their work here.
const OTHERS: [(&str, &str); 17] = [
    ("org.apache.flume.node", "flumen_agent"),
    ("org.apache.flume.conf", "flumen_agent::plan"),
    ("org.apache.flume.lifecycle", "flumen_agent::agent"),
    ("org.apache.flume.instrumentation", "flumen_agent::monitor"),
    ("org.apache.flume.SinkRunner", "flumen_core::group"),
    ("org.apache.flume.sink.AbstractSingleSinkProcessor", "flumen_core::group"),
    ("org.apache.flume.source.PollableSourceRunner", "flumen_core::source"),
    ("org.apache.flume.channel.ChannelProcessor", "flumen_core::processor"),
    ("org.apache.flume.api", "flumen_rpc"),
    ("org.apache.avro", "flumen_rpc"),
    ("org.apache.kafka", "rdkafka"),
    ("org.apache.hadoop", "hdfs_native"),
    ("org.apache.zookeeper", "zookeeper_client"),
    ("org.eclipse.jetty", "hyper"),
    ("org.mortbay", "hyper"),
    ("io.netty", "tokio"),
    ("org.jboss", "tokio"),
];

/// Which module is behind which class.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    /// Class to module.
    modules: BTreeMap<String, String>,
    /// Module to class.
    classes: BTreeMap<String, String>,
}

impl Names {
    /// The names of these types.
    pub(crate) fn of(registry: &Registry) -> Self {
        let mut names = Self::default();
        for info in KINDS.iter().flat_map(|kind| registry.infos(*kind)) {
            let Some((module, _)) = info.implementation.rsplit_once("::") else { continue };
            for class in info.names.iter().filter(|name| name.contains('.')) {
                // An interceptor is named by its builder.
                let class = class.split('$').next().unwrap_or(class);
                names.modules.insert(class.to_owned(), module.to_owned());
                names.classes.entry(module.to_owned()).or_insert_with(|| class.to_owned());
            }
        }
        for (class, module) in OTHERS {
            names.modules.insert(class.to_owned(), module.to_owned());
        }
        names
    }

    /// The prefixes of our targets that a logger of Java's stands for: a class, or all classes of a package. The name
    /// itself is one of them, as some lines bear it.
    pub(crate) fn targets(&self, logger: &str) -> Vec<String> {
        let mut targets = vec![logger.to_owned()];
        if logger == "org.apache.flume" || logger == "org.apache" || logger == "org" {
            targets.extend(["flumen", "flumen_"].map(str::to_owned));
        }
        let below = format!("{logger}.");
        for (class, module) in &self.modules {
            let inner = logger.split('$').next() == Some(class);
            if inner || class.starts_with(&below) {
                targets.push(module.clone());
            }
        }
        targets
    }

    /// The name under which a line stands in a log that Java's patterns shape: the class where there is one.
    pub(crate) fn logger<'a>(&'a self, target: &'a str) -> &'a str {
        let mut module = target;
        loop {
            if let Some(class) = self.classes.get(module) {
                return class;
            }
            match module.rsplit_once("::") {
                Some((above, _)) => module = above,
                None => return target,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_its_module_and_a_package_all_of_its_classes() {
        let names = Names::of(&crate::registry());
        let class = "org.apache.flume.sink.RollingFileSink";
        assert_eq!(names.targets(class), [class, "flumen_components::sinks::file_roll"]);
        let sinks = names.targets("org.apache.flume.sink");
        assert!(sinks.contains(&"flumen_components::sinks::null".to_owned()), "{sinks:?}");
        assert!(!sinks.iter().any(|target| target.contains("sources")), "{sinks:?}");
        assert_eq!(names.logger("flumen_components::sinks::file_roll::rolling"), class);
        assert_eq!(names.logger("elsewhere::x"), "elsewhere::x");
    }
}
