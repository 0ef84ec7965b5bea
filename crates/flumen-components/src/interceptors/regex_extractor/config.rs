//! The settings of the `regex_extractor` interceptor.

use crate::shared::regex::FilledRegex;
use flumen_core::config::{Configuration, Property, PropertyValue, Settings, View, Words, choose, read};
use flumen_java::dates::{JodaFormat, Locale, Zone};

/// What stands below the interceptor.
#[derive(Debug, Clone)]
pub struct RegexExtractorConfig {
    /// What to look for in the body.
    pub regex: FilledRegex,
    /// What becomes of each group, in the order of groups.
    pub serializers: Vec<SerializerConfig>,
}

/// What becomes of one group.
#[derive(Debug, Clone, Configuration)]
pub struct SerializerConfig {
    /// How the text of the group becomes a value: `DEFAULT` takes it as it is, and
    /// `org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer` reads it as a time and writes milliseconds since
    /// 1970.
    #[property(key = "type", default = "DEFAULT")]
    pub kind: SerializerKind,
    /// The header that is set.
    pub name: HeaderName,
    /// How the time is written, as a pattern of Joda-Time (`yyyy-MM-dd HH:mm:ss`). For the milliseconds only.
    pub pattern: Option<JodaPattern>,
}

#[derive(Configuration)]
struct Keys {
    /// What to look for in the body. The groups of its first match become headers.
    regex: FilledRegex,
    /// Names of serializers, separated by blanks: one for each group, in the order of groups. Groups beyond them are left out.
    serializers: Words,
    /// The serializers' own properties, below their names: `type`, `name` (the header), `pattern`.
    #[property(prefix = "serializers.")]
    parts: Settings,
}

impl Configuration for RegexExtractorConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let Keys { regex, serializers: names, parts } = Keys::read(view)?;
        if names.is_empty() {
            view.error("serializers", "is empty: name one for each group");
            return None;
        }
        let configs: Vec<_> = names.iter().map(|name| serializer(view, &parts, name)).collect();
        let mut told = Vec::new();
        for (key, _) in parts.iter() {
            let name = key.split('.').next().unwrap_or(key);
            if names.iter().any(|listed| listed == name) || told.contains(&name) {
                continue;
            }
            told.push(name);
            let what = format!("`serializers` does not name `{name}`: it does nothing");
            view.warn(&format!("serializers.{key}"), what);
        }
        let groups = regex.group_count();
        if names.len() > groups {
            let what = format!("names {}, but the pattern has {groups} groups", names.len());
            view.warn("serializers", what);
        }
        Some(Self { regex, serializers: configs.into_iter().collect::<Option<_>>()? })
    }
}

/// Reads one serializer, and hands its problems on.
fn serializer(view: &mut View<'_>, parts: &Settings, name: &str) -> Option<SerializerConfig> {
    let below = format!("serializers.{name}.");
    let settings = parts.part(&format!("{name}."));
    let (config, problems) = read::<SerializerConfig>(&settings, &[]);
    let before = settings.full_key("");
    for problem in problems {
        let key = problem.key.strip_prefix(&before).unwrap_or_default();
        let nearest = problem.nearest.map(|nearest| format!("did you mean `{nearest}`?"));
        let cure = nearest.or(problem.cure);
        view.note(problem.severity, &format!("{below}{key}"), &problem.what, cure.as_deref());
    }
    let config = config?;
    let key = format!("{below}pattern");
    match (config.kind, &config.pattern) {
        (SerializerKind::Millis, None) => {
            view.error(&key, "is required: the pattern of the time, as in `yyyy-MM-dd HH:mm:ss`");
            return None;
        }
        (SerializerKind::PassThrough, Some(_)) => view.warn(&key, "has no effect with this type"),
        _ => {}
    }
    Some(config)
}

/// How the text of a group becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerializerKind {
    /// As it is.
    PassThrough,
    /// Read as a time, written as milliseconds since 1970.
    Millis,
}

impl PropertyValue for SerializerKind {
    const KIND: &'static str = "a serializer of this interceptor";

    fn parse(text: &str) -> Result<Self, String> {
        let names = [
            ("DEFAULT", Self::PassThrough),
            (
                "org.apache.flume.interceptor.RegexExtractorInterceptorPassThroughSerializer",
                Self::PassThrough,
            ),
            ("org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer", Self::Millis),
        ];
        choose(text, &names).map_err(|why| format!("{why}; custom Java classes cannot be loaded"))
    }
}

/// The name of a header, which Flume does not want empty here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderName(pub String);

impl PropertyValue for HeaderName {
    const KIND: &'static str = "the name of a header";

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(Self(text.to_owned())) }
    }
}

/// A pattern of Joda-Time that is known to be good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JodaPattern(pub String);

impl PropertyValue for JodaPattern {
    const KIND: &'static str = "a date pattern of Joda-Time";

    fn parse(text: &str) -> Result<Self, String> {
        // Zone, locale and year do not matter for whether it is good.
        match JodaFormat::compile(text, &Locale::root(), &Zone::utc(), 0) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }
}
