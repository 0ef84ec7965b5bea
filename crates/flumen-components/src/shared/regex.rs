//! Regular expressions of Java's dialect as settings, and the bodies that they look at.

use flumen_core::config::PropertyValue;
use flumen_java::{
    charset::{Charset, OnError},
    regex::{Flags, Pattern},
};
use std::{borrow::Cow, ops::Deref, sync::Arc};

/// A pattern that a property gives. It may be empty.
#[derive(Debug, Clone)]
pub struct JavaRegex(Arc<Pattern>);

/// A pattern that a property gives and that Flume does not want empty.
#[derive(Debug, Clone)]
pub struct FilledRegex(Arc<Pattern>);

impl PropertyValue for JavaRegex {
    const KIND: &'static str = "a regular expression";

    fn parse(text: &str) -> Result<Self, String> {
        let pattern = Pattern::compile(text, Flags::NONE).map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(pattern)))
    }
}

impl PropertyValue for FilledRegex {
    const KIND: &'static str = "a regular expression";

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        JavaRegex::parse(text).map(|regex| Self(regex.0))
    }
}

impl Deref for JavaRegex {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        &self.0
    }
}

impl Deref for FilledRegex {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        &self.0
    }
}

/// A body as the UTF-8 that patterns look at. One in UTF-8 is looked at as it is: patterns read bytes that are none as Java's
/// decoder does.
pub(crate) fn body_text(charset: Charset, body: &[u8]) -> Cow<'_, [u8]> {
    if is_utf_8(charset) {
        return Cow::Borrowed(body);
    }
    match charset.decode(body, OnError::Replace) {
        Ok(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
        Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        // Only `Report` gives errors.
        Err(_) => Cow::Borrowed(body),
    }
}

/// Whether texts in this charset need no conversion. Asked for each event, so without looking a name up.
pub(crate) fn is_utf_8(charset: Charset) -> bool {
    charset.name() == "UTF-8"
}
