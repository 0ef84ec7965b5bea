//! What an author implements so that a configuration can name a type: one trait a kind.

use super::{BuildContext, BuildError, ChannelContext, SinkContext, SourceContext};
use crate::{
    channel::{Channel, ChannelLimits},
    config::Configuration,
    group::SinkProcessor,
    intercept::Interceptor,
    route::Selector,
    serialize::{EventDeserializer, EventSerializer},
    sink::Sink,
    source::{PollSource, Source},
};
use std::{path::PathBuf, sync::Arc};

/// What a configured component needs and does, for checks across components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The most events that it puts or takes in one transaction.
    pub batch_size: Option<u32>,
    /// The property that says so.
    pub batch_size_key: &'static str,
    /// Where it listens.
    pub listens: Vec<Listening>,
    /// Where it sends what it takes: host, port and the property that names the port. Sinks of Flume's own protocols.
    pub sends_to: Vec<(String, u16, &'static str)>,
    /// Directories that it must have for itself.
    pub own_directories: Vec<PathBuf>,
    /// Directories that must be there before it runs, each with the property that names it.
    pub needed_directories: Vec<(&'static str, PathBuf)>,
    /// Paths that are of no use if they are directories, each with the property that names it.
    pub needed_files: Vec<(String, PathBuf)>,
    /// Whether it needs a `timestamp` header, and the property that does.
    pub needs_timestamp: Option<&'static str>,
    /// Whether it sets a `timestamp` header on every event, or hands on those that its peers have set.
    pub sets_timestamp: bool,
    /// Whether it can make more events of a batch than it gets.
    pub may_grow: bool,
    /// Groups of Kafka consumers that it reads in.
    pub reads_in: Vec<ReadsIn>,
    /// For channels: whether others than this agent may put into it and take from it.
    pub open_to_others: bool,
    /// Things to know: the property, and what to say about it.
    pub advice: Vec<(String, String)>,
    /// The same, where nothing is wrong and many would choose otherwise if they knew.
    pub hints: Vec<(String, String)>,
}

/// A group of Kafka consumers: each record of a topic goes to one of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadsIn {
    /// Its name.
    pub group: String,
    /// A topic that it reads.
    pub topic: String,
    /// The property that names the group.
    pub key: &'static str,
}

/// An address that a component listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// The address in the file (`0.0.0.0`).
    pub host: String,
    /// The port; 0 is any free one.
    pub port: u16,
    /// TCP or UDP.
    pub transport: Transport,
    /// The property that names the port.
    pub key: &'static str,
}

/// How a listening component is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// A kind of source that a configuration can name.
pub trait SourceType: Source + Sized {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one. Opens nothing.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError>;

    /// What it needs and does, with these settings.
    fn facts(_config: &Self::Config) -> Facts {
        Facts::default()
    }
}

/// A kind of polled source that a configuration can name. It gets `backoffSleepIncrement` and `maxBackoffSleep`.
pub trait PollSourceType: PollSource + Sized {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one. Opens nothing.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError>;

    /// What it needs and does, with these settings.
    fn facts(_config: &Self::Config) -> Facts {
        Facts::default()
    }
}

/// A kind of channel that a configuration can name.
pub trait ChannelType: Channel + Sized {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Properties that may change while it runs; a change of any other one needs a new channel.
    const LIVE_KEYS: &'static [&'static str];
    /// Its settings.
    type Config: Configuration;

    /// Makes one. Opens nothing.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &ChannelContext) -> Result<Self, BuildError>;

    /// The limits that these settings mean, for a running channel that takes new ones.
    fn limits_of(config: &Self::Config, context: &BuildContext) -> ChannelLimits;

    /// What it needs and does, with these settings.
    fn facts(_config: &Self::Config) -> Facts {
        Facts::default()
    }
}

/// A kind of sink that a configuration can name.
pub trait SinkType: Sink + Sized {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one. Opens nothing.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError>;

    /// What it needs and does, with these settings. Without a batch size the runner takes 100 events at a time.
    fn facts(_config: &Self::Config) -> Facts {
        Facts::default()
    }
}

/// A kind of interceptor that a configuration can name.
pub trait InterceptorType: Interceptor + Sized {
    /// Flume's short name, then every other spelling in the field (class names, with `$Builder` where Flume has it).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError>;

    /// What it needs and does, with these settings.
    fn facts(_config: &Self::Config) -> Facts {
        Facts::default()
    }
}

/// A kind of channel selector that a configuration can name. Its settings are those below `selector.`.
pub trait SelectorType: Selector + Sized {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one for the channels of a source, in the order of its list.
    ///
    /// # Errors
    /// The settings name a channel that the source does not have, or do not fit together.
    fn build(config: Self::Config, channels: &[String], context: &BuildContext) -> Result<Self, BuildError>;

    /// Things to know about these settings for these channels: the property, and what to say about it.
    fn advice(_config: &Self::Config, _channels: &[String]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A kind of sink processor that a configuration can name. Its settings are those below `processor.`.
pub trait SinkProcessorType: SinkProcessor + Sized + 'static {
    /// Flume's short name, then every other spelling in the field (class names).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one for the sinks of a group, in the order of its list.
    ///
    /// # Errors
    /// The settings do not fit together, or not these sinks.
    fn build(config: Self::Config, sinks: &[String], context: &BuildContext) -> Result<Self, BuildError>;

    /// Things to know about these settings for these sinks: the property, and what to say about it.
    fn advice(_config: &Self::Config, _sinks: &[String]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A kind of serializer that a configuration can name.
pub trait SerializerType: EventSerializer + Sized + 'static {
    /// Flume's short name, then every other spelling in the field (class names, with `$Builder` where Flume has it).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError>;
}

/// A kind of deserializer that a configuration can name.
pub trait DeserializerType: EventDeserializer + Sized + 'static {
    /// Flume's short name, then every other spelling in the field (class names, with `$Builder` where Flume has it).
    const NAMES: &'static [&'static str];
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// Its settings.
    type Config: Configuration;

    /// Makes one.
    ///
    /// # Errors
    /// The settings do not fit together.
    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError>;
}

/// How an erased channel is made.
pub(super) fn erase<T: Channel>(channel: T) -> Arc<dyn Channel> {
    Arc::new(channel)
}
