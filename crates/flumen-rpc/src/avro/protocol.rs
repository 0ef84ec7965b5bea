//! Flume's protocol, and what another text of it means: which fields a peer writes, in which order.

use super::schema::{Schema, Types};
use serde_json::Value;

/// The protocol as Java Flume writes it, comment and all: 1.8 to 1.11 have the same text.
pub const TEXT: &str = include_str!("protocol.json");
/// The MD5 of [`TEXT`], by which peers know it.
pub const HASH: [u8; 16] =
    [0x86, 0xaa, 0xda, 0xe2, 0xc4, 0x54, 0x74, 0xc0, 0xfe, 0x93, 0xff, 0xd0, 0xf2, 0x35, 0x0a, 0x65];
/// A longer text is no variant of Flume's.
pub(super) const MAX_TEXT_BYTES: usize = 256 << 10;

/// A call of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `append`: one event.
    Append,
    /// `appendBatch`: a list of events, stored as one.
    AppendBatch,
}

impl Method {
    /// The message's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::AppendBatch => "appendBatch",
        }
    }

    fn parameter(self) -> &'static str {
        match self {
            Self::Append => "event",
            Self::AppendBatch => "events",
        }
    }
}

/// What a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Stored.
    Ok,
    /// Not stored: the channel is full, or has failed.
    Failed,
    /// Nobody knows.
    Unknown,
}

impl Status {
    /// The symbols in the order of the protocol.
    pub(super) const ALL: [(Self, &'static str); 3] =
        [(Self::Ok, "OK"), (Self::Failed, "FAILED"), (Self::Unknown, "UNKNOWN")];
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::ALL.iter().find(|(status, _)| status == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// How a client writes its calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// The messages that it knows, with what each is written as. `None`: known, and nothing that can be read as ours.
    messages: Vec<(String, Option<Message>)>,
    pub(super) types: Types,
}

/// A message of the client's protocol that can be read as ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) method: Method,
    pub(super) parameters: Vec<Parameter>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parameter {
    /// The event, or the events.
    Wanted(Vec<Field>),
    /// Read over.
    Other(Schema),
}

/// A field of an event as the client writes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Headers,
    Body,
    Other(Schema),
}

impl Shape {
    /// The shape of [`TEXT`].
    pub(super) fn own() -> Self {
        let message = |method: Method| {
            let parameters = vec![Parameter::Wanted(vec![Field::Headers, Field::Body])];
            (method.name().to_owned(), Some(Message { method, parameters }))
        };
        let messages = [Method::Append, Method::AppendBatch].map(message).into();
        Self { messages, types: Types::default() }
    }

    /// The shape of a client's text.
    ///
    /// # Errors
    /// It is no protocol; in words.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let (protocol, types) = read(text)?;
        let space = protocol.get("namespace").and_then(Value::as_str).unwrap_or_default();
        let mut shape = Self { messages: Vec::new(), types };
        for (name, message) in protocol.get("messages").and_then(Value::as_object).into_iter().flatten() {
            let known = [Method::Append, Method::AppendBatch].into_iter().find(|m| m.name() == name);
            let message = known.and_then(|method| shape.message(method, message, space).ok());
            shape.messages.push((name.clone(), message));
        }
        Ok(shape)
    }

    fn message(&mut self, method: Method, message: &Value, space: &str) -> Result<Message, String> {
        let mut parameters = Vec::new();
        let mut found = false;
        for parameter in message.get("request").and_then(Value::as_array).ok_or("no request")? {
            let schema = self.types.read(parameter.get("type").ok_or("no type")?, space)?;
            let wanted = !found && parameter.get("name").and_then(Value::as_str) == Some(method.parameter());
            found |= wanted;
            parameters.push(match wanted {
                true => Parameter::Wanted(self.event(method, &schema)?),
                false => Parameter::Other(schema),
            });
        }
        if found { Ok(Message { method, parameters }) } else { Err("no event".to_owned()) }
    }

    /// The fields of an event, where the schema is one, or a list of them.
    fn event(&self, method: Method, schema: &Schema) -> Result<Vec<Field>, String> {
        let record = match (method, self.types.resolve(schema)) {
            (Method::Append, record) => record,
            (Method::AppendBatch, Schema::Array(items)) => self.types.resolve(items),
            (Method::AppendBatch, _) => return Err("events are no array".to_owned()),
        };
        let Schema::Record(fields) = record else { return Err("an event is no record".to_owned()) };
        let fields: Vec<Field> = fields
            .iter()
            .map(|(name, schema)| match (name.as_str(), self.types.resolve(schema)) {
                ("headers", Schema::Map(values)) if **values == Schema::Bytes => Field::Headers,
                ("body", Schema::Bytes) => Field::Body,
                _ => Field::Other(schema.clone()),
            })
            .collect();
        let both = fields.contains(&Field::Headers) && fields.contains(&Field::Body);
        if both { Ok(fields) } else { Err("an event has no headers or no body".to_owned()) }
    }

    /// A message by its name; the error is Java's text.
    pub(super) fn find(&self, name: &str) -> Result<&Message, String> {
        let exception = "org.apache.avro.AvroRuntimeException";
        let Some((_, message)) = self.messages.iter().find(|(known, _)| known == name) else {
            return Err(format!("{exception}: No such remote message: {name}"));
        };
        if ![Method::Append, Method::AppendBatch].iter().any(|method| method.name() == name) {
            return Err(format!("{exception}: No message named {name} in {TEXT}"));
        }
        let unlike = || {
            format!(
                "org.apache.avro.AvroTypeException: {name} of the client's protocol cannot be read as the server's"
            )
        };
        message.as_ref().ok_or_else(unlike)
    }
}

/// The statuses of a server's protocol in its order.
///
/// # Errors
/// The text is no protocol, or its calls are not answered with a status; in words.
pub(super) fn statuses(text: &[u8]) -> Result<Vec<Status>, String> {
    let (protocol, mut types) = read(text)?;
    let space = protocol.get("namespace").and_then(Value::as_str).unwrap_or_default();
    let answer = protocol.pointer("/messages/appendBatch/response").ok_or("it has no appendBatch")?;
    let schema = types.read(answer, space)?;
    let Schema::Enum(symbols) = types.resolve(&schema) else {
        return Err("its appendBatch is not answered with a status".to_owned());
    };
    // A status that we do not know says no more than UNKNOWN.
    let known = |symbol: &String| {
        Status::ALL.iter().find(|(_, name)| name == symbol).map_or(Status::Unknown, |(status, _)| *status)
    };
    Ok(symbols.iter().map(known).collect())
}

fn read(text: &[u8]) -> Result<(Value, Types), String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("a protocol of {} bytes is too long", text.len()));
    }
    let protocol: Value =
        serde_json::from_slice(text).map_err(|error| format!("the protocol is no JSON: {error}"))?;
    let space = protocol.get("namespace").and_then(Value::as_str).unwrap_or_default();
    let mut types = Types::default();
    for named in protocol.get("types").and_then(Value::as_array).into_iter().flatten() {
        types.read(named, space)?;
    }
    Ok((protocol, types))
}

#[cfg(test)]
mod tests {
    use super::*;
    use md5::{Digest, Md5};

    #[test]
    fn the_text_has_the_hash_that_java_knows_it_by() {
        assert_eq!(Md5::digest(TEXT).as_slice(), HASH);
        assert_eq!(TEXT.len(), 1334);
    }

    #[test]
    fn our_own_text_read_as_another_is_our_own_shape() {
        let mut read = Shape::read(TEXT.as_bytes()).unwrap();
        read.types = Types::default();
        read.messages.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(read, Shape::own());
        assert_eq!(statuses(TEXT.as_bytes()).unwrap(), [Status::Ok, Status::Failed, Status::Unknown]);
    }

    #[test]
    fn a_text_that_is_none_is_told() {
        for text in ["", "[", "1", r#"{"types":[{"type":"record"}]}"#, r#"{"types":[7]}"#] {
            let read = Shape::read(text.as_bytes());
            assert!(read.is_err() || read.unwrap().find("append").is_err(), "{text}");
            assert!(statuses(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Shape::read(&vec![b' '; MAX_TEXT_BYTES + 1]).unwrap_err().contains("too long"));
    }

    #[test]
    fn messages_that_are_not_ours_are_refused_in_javas_words() {
        let unknown = Shape::own().find("nope").unwrap_err();
        assert_eq!(unknown, "org.apache.avro.AvroRuntimeException: No such remote message: nope");
        let other = r#"{"messages":{"ghost":{"request":[],"response":"int"},"append":{"request":[],"response":"int"}}}"#;
        let other = Shape::read(other.as_bytes()).unwrap();
        assert!(other.find("ghost").unwrap_err().contains("No message named ghost in {\"protocol\""));
        assert!(other.find("append").unwrap_err().contains("cannot be read"));
    }
}
