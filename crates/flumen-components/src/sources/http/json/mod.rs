//! The JSON handler: an array of events, each with string headers and a string as its body.

mod error;
mod events;
mod reader;

use super::handler::Refusal;
use bytes::Bytes;
use error::JsonError;
use flumen_core::event::{Batch, Text};
use flumen_java::charset::{Charset, OnError};
use hyper::StatusCode;

/// Makes a batch of a request's body, in the charset that its content type names; UTF-8 where it names none.
pub(super) fn batch(content_type: Option<&str>, body: Bytes) -> Result<Batch, Refusal> {
    let charset = match content_type.and_then(charset_of) {
        None => None,
        Some(name) if name.eq_ignore_ascii_case("utf-8") => None,
        Some(name) if name.eq_ignore_ascii_case("utf-16") || name.eq_ignore_ascii_case("utf-32") => {
            Some(Charset::for_name(name).map_err(|error| Refusal::failed(error.to_string()))?)
        }
        Some(_) => {
            return Err(Refusal::failed(
                "unsupported charset: JSON is read in UTF-8, UTF-16 and UTF-32 only",
            ));
        }
    };
    let document = decode(charset.unwrap_or_else(Charset::utf_8), body)?;
    events::batch(&document, charset).map_err(|error| match error {
        JsonError::Syntax { .. } => Refusal::new(StatusCode::BAD_REQUEST, error.to_string()),
        JsonError::TooMany { .. } => Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
        JsonError::Hex { .. } | JsonError::Null(_) => Refusal::failed(error.to_string()),
    })
}

/// The text of a body; bytes that are no text become U+FFFD, as in Java. Good UTF-8 is not copied.
fn decode(charset: Charset, body: Bytes) -> Result<Text, Refusal> {
    if charset == Charset::utf_8()
        && let Ok(text) = Text::from_utf8(body.clone())
    {
        return Ok(text);
    }
    match charset.decode(&body, OnError::Replace) {
        Ok(text) => Ok(Text::from(text.into_owned())),
        Err(error) => Err(Refusal::failed(error.to_string())),
    }
}

/// The value of the parameter `charset`, with or without quotation marks.
fn charset_of(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"').trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests;
