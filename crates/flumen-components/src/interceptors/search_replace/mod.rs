//! Replaces what a pattern finds in bodies.
//!
//! Bytes that are no text in the charset stay as they are where nothing is replaced. An event on which the pattern needs too
//! many steps, or whose body would become too long, passes as it is.

mod config;
#[cfg(test)]
mod tests;

pub use config::SearchReplaceConfig;

use super::gave_up::GaveUp;
use crate::shared::regex::{FilledRegex, body_text, is_utf_8};
use flumen_core::{
    event::Batch,
    intercept::{InterceptError, Interceptor},
    registry::{BuildContext, BuildError, InterceptorType},
};
use flumen_java::{
    charset::{Charset, OnError},
    regex::{Captures, MatchError, Replacement},
};
use std::borrow::Cow;

/// The most bytes that all new bodies of a batch have. A replacement can make bodies of any length.
const MOST_NEW_BYTES: usize = 1 << 30;

/// See the module.
#[derive(Debug)]
pub struct SearchReplaceInterceptor {
    pattern: FilledRegex,
    replacement: Replacement,
    charset: Charset,
    gave_up: GaveUp,
}

impl InterceptorType for SearchReplaceInterceptor {
    const NAMES: &'static [&'static str] = &[
        "search_replace",
        "org.apache.flume.interceptor.SearchAndReplaceInterceptor$Builder",
        "org.apache.flume.interceptor.SearchAndReplaceInterceptor",
    ];
    const SUMMARY: &'static str = "Replaces what a pattern finds in bodies.";
    type Config = SearchReplaceConfig;

    fn build(config: Self::Config, context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self {
            pattern: config.pattern,
            replacement: config.replacement,
            charset: config.charset.0,
            gave_up: GaveUp::new(context),
        })
    }
}

impl Interceptor for SearchReplaceInterceptor {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        let (mut captures, mut replaced) = (self.pattern.captures(), Vec::new());
        let mut room = MOST_NEW_BYTES;
        batch.expand(|event, emit| {
            match self.replace(event.body, &mut captures, &mut replaced) {
                Ok(false) => return emit.keep(),
                Ok(true) => {}
                Err(error) => {
                    self.gave_up.note(&error);
                    return emit.keep();
                }
            }
            let body = self.encoded(&replaced);
            match room.checked_sub(body.len()) {
                Some(left) => {
                    room = left;
                    emit.body(&body);
                }
                None => {
                    self.gave_up.note(&"the new bodies of a batch would have more than 1 GiB");
                    emit.keep();
                }
            }
        });
        Ok(())
    }
}

impl SearchReplaceInterceptor {
    /// Writes the new body in UTF-8 into `out`; false where nothing is found.
    fn replace(&self, body: &[u8], captures: &mut Captures, out: &mut Vec<u8>) -> Result<bool, MatchError> {
        let text = body_text(self.charset, body);
        self.pattern.replace_all(&text, &self.replacement, captures, out)
    }

    fn encoded<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if is_utf_8(self.charset) {
            return Cow::Borrowed(text);
        }
        let text = String::from_utf8_lossy(text);
        let encoded = self.charset.encode(&text, OnError::Replace).map(Cow::into_owned);
        // Only `Report` gives errors.
        Cow::Owned(encoded.unwrap_or_default())
    }
}
