//! What a configuration can name: every component type with its names, its properties and how it is built.

mod context;
mod entry;
mod types;

pub use context::{
    BuildContext, BuildError, ChannelContext, Environment, ExtraMetrics, SinkContext, SourceContext,
};
pub use entry::{
    Absent, ChannelEntry, DeserializerEntry, EntryInfo, InterceptorEntry, SelectorEntry, SerializerEntry,
    SinkEntry, SinkProcessorEntry, SourceEntry,
};
pub use types::{
    ChannelType, DeserializerType, Facts, InterceptorType, Listening, PollSourceType, ReadsIn, SelectorType,
    SerializerType, SinkProcessorType, SinkType, SourceType, Transport,
};

use crate::config::{Effect, Property};
use std::fmt;

/// The kinds of component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Where events come from.
    Source,
    /// Where they wait.
    Channel,
    /// Where they go.
    Sink,
    /// What rewrites them behind a source.
    Interceptor,
    /// What chooses channels.
    Selector,
    /// What chooses among the sinks of a group.
    SinkProcessor,
    /// What turns events into bytes of a file.
    Serializer,
    /// What turns bytes of a file into events.
    Deserializer,
    /// What fills placeholders of the configuration.
    ConfigFilter,
}

impl Kind {
    /// The kind in words, as messages and pages use it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Channel => "channel",
            Self::Sink => "sink",
            Self::Interceptor => "interceptor",
            Self::Selector => "channel selector",
            Self::SinkProcessor => "sink processor",
            Self::Serializer => "serializer",
            Self::Deserializer => "deserializer",
            Self::ConfigFilter => "config filter",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every type that a configuration can name. Built once, at the start, by the `register` function of each crate.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    sources: Vec<SourceEntry>,
    channels: Vec<ChannelEntry>,
    sinks: Vec<SinkEntry>,
    interceptors: Vec<InterceptorEntry>,
    selectors: Vec<SelectorEntry>,
    processors: Vec<SinkProcessorEntry>,
    serializers: Vec<SerializerEntry>,
    deserializers: Vec<DeserializerEntry>,
    config_filters: Vec<EntryInfo>,
    absent: Vec<Absent>,
}

impl Registry {
    /// A registry that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source.
    #[must_use]
    pub fn source<T: SourceType>(mut self) -> Self {
        self.sources.push(SourceEntry::of::<T>());
        self
    }

    /// Adds a source that is polled.
    #[must_use]
    pub fn poll_source<T: PollSourceType>(mut self) -> Self {
        self.sources.push(SourceEntry::of_polled::<T>());
        self
    }

    /// Adds a channel.
    #[must_use]
    pub fn channel<T: ChannelType>(mut self) -> Self {
        self.channels.push(ChannelEntry::of::<T>());
        self
    }

    /// Adds a sink.
    #[must_use]
    pub fn sink<T: SinkType>(mut self) -> Self {
        self.sinks.push(SinkEntry::of::<T>());
        self
    }

    /// Adds an interceptor.
    #[must_use]
    pub fn interceptor<T: InterceptorType>(mut self) -> Self {
        self.interceptors.push(InterceptorEntry::of::<T>());
        self
    }

    /// Adds a channel selector.
    #[must_use]
    pub fn selector<T: SelectorType>(mut self) -> Self {
        self.selectors.push(SelectorEntry::of::<T>());
        self
    }

    /// Adds a sink processor.
    #[must_use]
    pub fn processor<T: SinkProcessorType>(mut self) -> Self {
        self.processors.push(SinkProcessorEntry::of::<T>());
        self
    }

    /// Adds a serializer.
    #[must_use]
    pub fn serializer<T: SerializerType>(mut self) -> Self {
        self.serializers.push(SerializerEntry::of::<T>());
        self
    }

    /// Adds a deserializer.
    #[must_use]
    pub fn deserializer<T: DeserializerType>(mut self) -> Self {
        self.deserializers.push(DeserializerEntry::of::<T>());
        self
    }

    /// Adds a config filter. The agent itself has them; they are here to be listed and documented.
    #[must_use]
    pub fn config_filter(mut self, info: EntryInfo) -> Self {
        self.config_filters.push(info);
        self
    }

    /// Adds types of Flume's that are known and not there, so that they are never called unknown.
    #[must_use]
    pub fn absent(mut self, types: &[Absent]) -> Self {
        self.absent.extend_from_slice(types);
        self
    }

    /// The source of this name, in any case.
    pub fn find_source(&self, name: &str) -> Option<&SourceEntry> {
        self.sources.iter().find(|entry| entry.info.is_named(name))
    }

    /// The channel of this name, in any case.
    pub fn find_channel(&self, name: &str) -> Option<&ChannelEntry> {
        self.channels.iter().find(|entry| entry.info.is_named(name))
    }

    /// The sink of this name, in any case.
    pub fn find_sink(&self, name: &str) -> Option<&SinkEntry> {
        self.sinks.iter().find(|entry| entry.info.is_named(name))
    }

    /// The interceptor of this name, in any case.
    pub fn find_interceptor(&self, name: &str) -> Option<&InterceptorEntry> {
        self.interceptors.iter().find(|entry| entry.info.is_named(name))
    }

    /// The channel selector of this name, in any case.
    pub fn find_selector(&self, name: &str) -> Option<&SelectorEntry> {
        self.selectors.iter().find(|entry| entry.info.is_named(name))
    }

    /// The sink processor of this name, in any case.
    pub fn find_processor(&self, name: &str) -> Option<&SinkProcessorEntry> {
        self.processors.iter().find(|entry| entry.info.is_named(name))
    }

    /// The serializer of this name, in any case.
    pub fn find_serializer(&self, name: &str) -> Option<&SerializerEntry> {
        self.serializers.iter().find(|entry| entry.info.is_named(name))
    }

    /// The deserializer of this name, in any case.
    pub fn find_deserializer(&self, name: &str) -> Option<&DeserializerEntry> {
        self.deserializers.iter().find(|entry| entry.info.is_named(name))
    }

    /// A type of Flume's that is known and not there.
    pub fn find_absent(&self, kind: Kind, name: &str) -> Option<&Absent> {
        let named = |absent: &&Absent| absent.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.absent.iter().filter(|absent| absent.kind == kind).find(named)
    }

    /// What there is of a kind, in the order of registration.
    pub fn infos(&self, kind: Kind) -> Vec<&EntryInfo> {
        match kind {
            Kind::Source => self.sources.iter().map(|entry| &entry.info).collect(),
            Kind::Channel => self.channels.iter().map(|entry| &entry.info).collect(),
            Kind::Sink => self.sinks.iter().map(|entry| &entry.info).collect(),
            Kind::Interceptor => self.interceptors.iter().map(|entry| &entry.info).collect(),
            Kind::Selector => self.selectors.iter().map(|entry| &entry.info).collect(),
            Kind::SinkProcessor => self.processors.iter().map(|entry| &entry.info).collect(),
            Kind::Serializer => self.serializers.iter().map(|entry| &entry.info).collect(),
            Kind::Deserializer => self.deserializers.iter().map(|entry| &entry.info).collect(),
            Kind::ConfigFilter => self.config_filters.iter().collect(),
        }
    }

    /// What is known and not there, of a kind.
    pub fn absent_of(&self, kind: Kind) -> impl Iterator<Item = &Absent> {
        let infos = self.infos(kind);
        let is_there = move |absent: &&Absent| {
            infos.iter().any(|info| absent.names.iter().any(|name| info.is_named(name)))
        };
        self.absent.iter().filter(move |absent| absent.kind == kind).filter(move |absent| !is_there(absent))
    }
}

/// What every source has besides its own properties.
pub const SOURCE_PROPERTIES: &[Property] = &[
    Property {
        key: "type",
        kind: "type name",
        required: true,
        doc: "What kind of source it is.",
        ..Property::NEW
    },
    Property {
        key: "channels",
        kind: "names",
        required: true,
        doc: "The channels that its events go to, separated by blanks.",
        ..Property::NEW
    },
    Property {
        key: "interceptors",
        kind: "names",
        doc: "Its interceptors, in the order in which they work.",
        ..Property::NEW
    },
    Property {
        key: "interceptors.",
        kind: "properties",
        prefix: true,
        doc: "The properties of an interceptor, after its name.",
        ..Property::NEW
    },
    Property {
        key: "selector.",
        kind: "properties",
        prefix: true,
        doc: "How channels are chosen: `selector.type` and its properties.",
        ..Property::NEW
    },
    Property {
        key: "config",
        kind: "class name",
        doc: "The Java class that would read the settings.",
        effect: Effect::Ignored { why: "every type reads its own settings" },
        ..Property::NEW
    },
];

/// What every polled source has besides that.
pub const POLL_PROPERTIES: &[Property] = &[
    Property {
        key: "backoffSleepIncrement",
        kind: "milliseconds",
        default: Some("1000"),
        doc: "What each further poll without events adds to the pause before the next one.",
        ..Property::NEW
    },
    Property {
        key: "maxBackoffSleep",
        kind: "milliseconds",
        default: Some("5000"),
        doc: "The longest such pause.",
        ..Property::NEW
    },
];

/// What every channel has besides its own properties.
pub const CHANNEL_PROPERTIES: &[Property] = &[
    Property {
        key: "type",
        kind: "type name",
        required: true,
        doc: "What kind of channel it is.",
        ..Property::NEW
    },
    Property {
        key: "config",
        kind: "class name",
        doc: "The Java class that would read the settings.",
        effect: Effect::Ignored { why: "every type reads its own settings" },
        ..Property::NEW
    },
];

/// What every sink has besides its own properties.
pub const SINK_PROPERTIES: &[Property] = &[
    Property {
        key: "type",
        kind: "type name",
        required: true,
        doc: "What kind of sink it is.",
        ..Property::NEW
    },
    Property {
        key: "channel",
        kind: "name",
        required: true,
        doc: "The channel that it takes from.",
        ..Property::NEW
    },
    Property {
        key: "batchLinger",
        kind: "milliseconds",
        default: Some("0"),
        doc: "How long to wait for a full batch when fewer events are there; 0 takes at once what is there.",
        ..Property::NEW
    },
    Property {
        key: "maxHeldBatches",
        kind: "number",
        default: Some("1000"),
        doc: "Batches that may be sent and not yet safe before the sink is asked to finish some early.",
        ..Property::NEW
    },
    Property {
        key: "maxHeldBytes",
        kind: "bytes",
        default: Some("268435456"),
        doc: "Bytes of such batches at which it is asked.",
        ..Property::NEW
    },
    Property {
        key: "config",
        kind: "class name",
        doc: "The Java class that would read the settings.",
        effect: Effect::Ignored { why: "every type reads its own settings" },
        ..Property::NEW
    },
];

#[cfg(test)]
mod tests;
