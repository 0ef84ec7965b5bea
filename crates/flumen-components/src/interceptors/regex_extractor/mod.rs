//! Makes headers of what the groups of a pattern find in the body.
//!
//! A group that takes no part in the match gives an empty value, and leaves a time out. An event on which the pattern needs
//! too many steps passes as it is; a time that cannot be read leaves its header as it was.

mod config;
#[cfg(test)]
mod tests;

pub use config::{HeaderName, JodaPattern, RegexExtractorConfig, SerializerConfig, SerializerKind};

use super::gave_up::GaveUp;
use crate::shared::{jvm, regex::FilledRegex};
use flumen_core::{
    event::{Batch, OwnHeaders, Text},
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, Facts, InterceptorType},
};
use flumen_java::{
    dates::JodaFormat,
    regex::{Captures, Pattern},
};

/// See the module.
#[derive(Debug)]
pub struct RegexExtractorInterceptor {
    regex: FilledRegex,
    /// For each group, in order.
    serializers: Vec<Serializer>,
    gave_up: GaveUp,
}

#[derive(Debug)]
struct Serializer {
    header: Text,
    /// Where the value is a time.
    millis: Option<JodaFormat>,
}

/// A part of a body that is UTF-8, and where it begins.
#[derive(Default)]
struct Span<'a> {
    start: usize,
    text: &'a str,
}

impl<'a> Span<'a> {
    /// What stands at a place of the body, if that is text.
    #[inline]
    fn get(&self, (start, end): (usize, usize)) -> Option<&'a str> {
        self.text.get(start.checked_sub(self.start)?..end.checked_sub(self.start)?)
    }
}

impl InterceptorType for RegexExtractorInterceptor {
    const NAMES: &'static [&'static str] = &[
        "regex_extractor",
        "org.apache.flume.interceptor.RegexExtractorInterceptor$Builder",
        "org.apache.flume.interceptor.RegexExtractorInterceptor",
    ];
    const SUMMARY: &'static str = "Makes headers of what the groups of a pattern find in the body.";
    type Config = RegexExtractorConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        let (zone, locale) = (jvm::zone(&context.environment), jvm::locale(&context.environment));
        let now = context.clock.now_ms();
        let serializer = |config: SerializerConfig| {
            let wanted = config.pattern.filter(|_| config.kind == SerializerKind::Millis);
            let format = |JodaPattern(pattern)| {
                JodaFormat::compile(&pattern, &locale, &zone, now)
                    .map_err(|error| BuildError::with(format!("pattern `{pattern}`"), error))
            };
            Ok(Serializer { header: Text::kept(&config.name.0), millis: wanted.map(format).transpose()? })
        };
        let mut serializers = config.serializers;
        serializers.truncate(config.regex.group_count());
        let serializers = serializers.into_iter().map(serializer).collect::<Result<_, BuildError>>()?;
        Ok(Self { regex: config.regex, serializers, gave_up: GaveUp::new(context) })
    }

    /// An event that does not match gets no time. Who takes the time out of the body knows that.
    fn facts(config: &Self::Config) -> Facts {
        let sets_timestamp = config.serializers.iter().any(|serializer| serializer.name.0 == "timestamp");
        Facts { sets_timestamp, ..Facts::default() }
    }
}

impl Interceptor for RegexExtractorInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        let mut captures = self.regex.captures();
        batch.edit_each(|event, own| {
            match self.regex.find_captures(event.body, &mut captures) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.gave_up.note(&error),
            }
            let span = self.span(event.body, &captures);
            for (group, serializer) in (1..).zip(&self.serializers) {
                match captures.get(group) {
                    Some(place) => match span.get(place) {
                        Some(text) => self.set(serializer, text, own),
                        None => {
                            let found = Pattern::text(event.body, place);
                            self.set(serializer, &String::from_utf8_lossy(&found), own);
                        }
                    },
                    None if serializer.millis.is_some() => {}
                    // Java sets null here, which no file or peer can hold.
                    None => own.set_str(&serializer.header, ""),
                }
            }
        });
        Ok(())
    }
}

impl RegexExtractorInterceptor {
    /// The part of a body that all groups lie in, looked at for UTF-8 once and not for each group.
    #[inline]
    fn span<'a>(&self, body: &'a [u8], captures: &Captures) -> Span<'a> {
        let places = (1..=self.serializers.len()).filter_map(|group| captures.get(group));
        let whole = places.reduce(|(start, end), (from, to)| (start.min(from), end.max(to)));
        let Some((start, end)) = whole else { return Span::default() };
        let text = body.get(start..end).and_then(|part| str::from_utf8(part).ok());
        Span { start, text: text.unwrap_or_default() }
    }

    #[inline]
    fn set(&self, serializer: &Serializer, text: &str, own: &mut OwnHeaders) {
        match serializer.millis.as_ref().map(|format| format.parse(text)) {
            None => own.set_str(&serializer.header, text),
            Some(Ok(millis)) => own.set_fmt(&serializer.header, millis),
            Some(Err(error)) => self.gave_up.note(&format_args!("`{text}` is no time: {error}")),
        }
    }
}
