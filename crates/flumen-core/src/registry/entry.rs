//! One row a type: names, properties, and functions that check and build from plain settings.

use super::{
    BuildContext, BuildError, CHANNEL_PROPERTIES, ChannelContext, ChannelType, DeserializerType, Facts,
    InterceptorType, Kind, POLL_PROPERTIES, PollSourceType, SINK_PROPERTIES, SOURCE_PROPERTIES, SelectorType,
    SerializerType, SinkContext, SinkProcessorType, SinkType, SourceContext, SourceType, types::erase,
};
use crate::{
    channel::{Channel, ChannelLimits},
    config::{Configuration, Problem, Property, Settings, Severity, View, read},
    group::SinkProcessor,
    intercept::Interceptor,
    route::Selector,
    serialize::{EventDeserializer, EventSerializer},
    sink::DynSink,
    source::{DynSource, Polling},
};
use std::{any::type_name, sync::Arc, time::Duration};

/// What can be said of a type without building it.
#[derive(Debug, Clone, Copy)]
pub struct EntryInfo {
    /// Of which kind it is.
    pub kind: Kind,
    /// Flume's short name, then every other spelling.
    pub names: &'static [&'static str],
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its own properties.
    pub properties: &'static [Property],
    /// What every type of its kind has besides.
    pub common: &'static [&'static [Property]],
    /// The Rust type behind it, which says where its code and its delivery paragraph are.
    pub implementation: &'static str,
}

impl EntryInfo {
    /// Whether the type goes by this name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Flume's short name.
    pub fn short_name(&self) -> &'static str {
        self.names[0]
    }
}

/// A type of Flume's that is known and not there.
#[derive(Debug, Clone, Copy)]
pub struct Absent {
    /// Of which kind it is.
    pub kind: Kind,
    /// Flume's short name, and its class names.
    pub names: &'static [&'static str],
    /// What to do instead.
    pub instead: &'static str,
}

/// Reads settings twice: to check them (with the facts), and to build.
type Check = fn(&Settings) -> (Option<Facts>, Vec<Problem>);

/// Things to know about settings together with the names that they are for: the property, and what to say about it.
type Advice = fn(&Settings, &[String]) -> Vec<(String, String)>;

fn config_of<C: Configuration>(settings: &Settings, kind: Kind) -> Result<C, BuildError> {
    let mut view = View::new(settings);
    let config = C::read(&mut view);
    config.ok_or_else(|| {
        let problems = view.into_problems();
        let first = problems.iter().find(|problem| problem.severity == Severity::Error);
        BuildError::new(first.map_or(format!("{kind} has bad settings"), ToString::to_string))
    })
}

fn checked<C: Configuration>(
    settings: &Settings,
    known: &[&'static [Property]],
    facts: fn(&C) -> Facts,
) -> (Option<Facts>, Vec<Problem>) {
    let (config, problems) = read::<C>(settings, known);
    (config.as_ref().map(facts), problems)
}

macro_rules! info {
    ($type:ident, $kind:expr, $common:expr) => {
        EntryInfo {
            kind: $kind,
            names: $type::NAMES,
            summary: $type::SUMMARY,
            properties: <$type::Config as Configuration>::PROPERTIES,
            common: $common,
            implementation: type_name::<$type>(),
        }
    };
}

/// A row for a source.
#[derive(Debug, Clone, Copy)]
pub struct SourceEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems and, if they are good, the facts.
    pub check: Check,
    /// Makes one.
    pub build: fn(&Settings, &SourceContext) -> Result<Box<dyn DynSource>, BuildError>,
}

const SOURCE_COMMON: &[&[Property]] = &[SOURCE_PROPERTIES];
const POLL_COMMON: &[&[Property]] = &[SOURCE_PROPERTIES, POLL_PROPERTIES];

impl SourceEntry {
    pub(super) fn of<T: SourceType>() -> Self {
        Self {
            info: info!(T, Kind::Source, SOURCE_COMMON),
            check: |settings| checked::<T::Config>(settings, SOURCE_COMMON, T::facts),
            build: |settings, context| Ok(Box::new(T::build(config_of(settings, Kind::Source)?, context)?)),
        }
    }

    pub(super) fn of_polled<T: PollSourceType>() -> Self {
        Self {
            info: info!(T, Kind::Source, POLL_COMMON),
            check: |settings| {
                let (facts, mut problems) = checked::<T::Config>(settings, POLL_COMMON, T::facts);
                let pauses = pauses(settings, &mut problems);
                (facts.filter(|_| pauses.is_some()), problems)
            },
            build: |settings, context| {
                let inner = T::build(config_of(settings, Kind::Source)?, context)?;
                let (increment, max) = pauses(settings, &mut Vec::new()).ok_or_else(|| {
                    BuildError::new("backoffSleepIncrement or maxBackoffSleep is not a number")
                })?;
                Ok(Box::new(Polling { inner, increment, max }))
            },
        }
    }
}

/// The pauses of a polled source.
fn pauses(settings: &Settings, problems: &mut Vec<Problem>) -> Option<(Duration, Duration)> {
    let mut view = View::new(settings);
    let increment = view.value::<crate::config::Millis>(&POLL_PROPERTIES[0]);
    let max = view.value::<crate::config::Millis>(&POLL_PROPERTIES[1]);
    problems.extend(view.into_problems());
    Some((increment?.duration(), max?.duration()))
}

/// A row for a channel.
#[derive(Debug, Clone, Copy)]
pub struct ChannelEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Properties that may change while it runs.
    pub live_keys: &'static [&'static str],
    /// Reads settings, with all problems and, if they are good, the facts.
    pub check: Check,
    /// The limits that settings mean.
    pub limits: fn(&Settings, &BuildContext) -> Result<ChannelLimits, BuildError>,
    /// Makes one.
    pub build: fn(&Settings, &ChannelContext) -> Result<Arc<dyn Channel>, BuildError>,
}

const CHANNEL_COMMON: &[&[Property]] = &[CHANNEL_PROPERTIES];

impl ChannelEntry {
    pub(super) fn of<T: ChannelType>() -> Self {
        Self {
            info: info!(T, Kind::Channel, CHANNEL_COMMON),
            live_keys: T::LIVE_KEYS,
            check: |settings| checked::<T::Config>(settings, CHANNEL_COMMON, T::facts),
            limits: |settings, context| Ok(T::limits_of(&config_of(settings, Kind::Channel)?, context)),
            build: |settings, context| Ok(erase(T::build(config_of(settings, Kind::Channel)?, context)?)),
        }
    }
}

/// A row for a sink.
#[derive(Debug, Clone, Copy)]
pub struct SinkEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems and, if they are good, the facts.
    pub check: Check,
    /// Makes one.
    pub build: fn(&Settings, &SinkContext) -> Result<Box<dyn DynSink>, BuildError>,
}

const SINK_COMMON: &[&[Property]] = &[SINK_PROPERTIES];

impl SinkEntry {
    pub(super) fn of<T: SinkType>() -> Self {
        Self {
            info: info!(T, Kind::Sink, SINK_COMMON),
            check: |settings| checked::<T::Config>(settings, SINK_COMMON, T::facts),
            build: |settings, context| Ok(Box::new(T::build(config_of(settings, Kind::Sink)?, context)?)),
        }
    }
}

/// `type` is read by whoever chooses the entry.
const TYPE_PROPERTY: &[Property] =
    &[Property { key: "type", kind: "type name", doc: "Which kind it is.", ..Property::NEW }];
const TYPE_COMMON: &[&[Property]] = &[TYPE_PROPERTY];

/// A row for an interceptor.
#[derive(Debug, Clone, Copy)]
pub struct InterceptorEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems and, if they are good, the facts.
    pub check: Check,
    /// Makes one.
    pub build: fn(&Settings, &BuildContext) -> Result<Arc<dyn Interceptor>, BuildError>,
}

impl InterceptorEntry {
    pub(super) fn of<T: InterceptorType>() -> Self {
        Self {
            info: info!(T, Kind::Interceptor, TYPE_COMMON),
            check: |settings| checked::<T::Config>(settings, TYPE_COMMON, T::facts),
            build: |settings, context| {
                Ok(Arc::new(T::build(config_of(settings, Kind::Interceptor)?, context)?))
            },
        }
    }
}

/// A row for a channel selector.
#[derive(Debug, Clone, Copy)]
pub struct SelectorEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems.
    pub check: Check,
    /// Makes one for the channels of a source.
    pub build: fn(&Settings, &[String], &BuildContext) -> Result<Arc<dyn Selector>, BuildError>,
    /// Things to know about settings for the channels of a source.
    pub advice: Advice,
}

impl SelectorEntry {
    pub(super) fn of<T: SelectorType>() -> Self {
        Self {
            info: info!(T, Kind::Selector, TYPE_COMMON),
            check: |settings| checked::<T::Config>(settings, TYPE_COMMON, |_| Facts::default()),
            build: |settings, channels, context| {
                Ok(Arc::new(T::build(config_of(settings, Kind::Selector)?, channels, context)?))
            },
            advice: |settings, channels| match config_of::<T::Config>(settings, Kind::Selector) {
                Ok(config) => T::advice(&config, channels),
                Err(_) => Vec::new(),
            },
        }
    }
}

/// A row for a sink processor.
#[derive(Debug, Clone, Copy)]
pub struct SinkProcessorEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems.
    pub check: Check,
    /// Makes one for the sinks of a group.
    pub build: fn(&Settings, &[String], &BuildContext) -> Result<Box<dyn SinkProcessor>, BuildError>,
    /// Things to know about settings for the sinks of a group.
    pub advice: Advice,
}

impl SinkProcessorEntry {
    pub(super) fn of<T: SinkProcessorType>() -> Self {
        Self {
            info: info!(T, Kind::SinkProcessor, TYPE_COMMON),
            check: |settings| checked::<T::Config>(settings, TYPE_COMMON, |_| Facts::default()),
            build: |settings, sinks, context| {
                Ok(Box::new(T::build(config_of(settings, Kind::SinkProcessor)?, sinks, context)?))
            },
            advice: |settings, sinks| match config_of::<T::Config>(settings, Kind::SinkProcessor) {
                Ok(config) => T::advice(&config, sinks),
                Err(_) => Vec::new(),
            },
        }
    }
}

/// A row for a serializer.
#[derive(Debug, Clone, Copy)]
pub struct SerializerEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems.
    pub check: Check,
    /// Makes one.
    pub build: fn(&Settings, &BuildContext) -> Result<Box<dyn EventSerializer>, BuildError>,
}

impl SerializerEntry {
    pub(super) fn of<T: SerializerType>() -> Self {
        Self {
            info: info!(T, Kind::Serializer, &[]),
            check: |settings| checked::<T::Config>(settings, &[], |_| Facts::default()),
            build: |settings, context| {
                Ok(Box::new(T::build(config_of(settings, Kind::Serializer)?, context)?))
            },
        }
    }
}

/// A row for a deserializer.
#[derive(Debug, Clone, Copy)]
pub struct DeserializerEntry {
    /// What can be said of it.
    pub info: EntryInfo,
    /// Reads settings, with all problems.
    pub check: Check,
    /// Makes one.
    pub build: fn(&Settings, &BuildContext) -> Result<Box<dyn EventDeserializer>, BuildError>,
}

impl DeserializerEntry {
    pub(super) fn of<T: DeserializerType>() -> Self {
        Self {
            info: info!(T, Kind::Deserializer, &[]),
            check: |settings| checked::<T::Config>(settings, &[], |_| Facts::default()),
            build: |settings, context| {
                Ok(Box::new(T::build(config_of(settings, Kind::Deserializer)?, context)?))
            },
        }
    }
}
