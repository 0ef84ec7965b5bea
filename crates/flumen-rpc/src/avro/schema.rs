//! Schemas of a peer's protocol, only to read over what is not wanted.

use super::{
    MAX_ITEMS,
    wire::{Reader, WireError},
};
use serde_json::Value;

/// Values within values beyond this are refused.
const MAX_DEPTH: usize = 64;
/// Values that are read over in one call: some take no bytes, and would have no other end.
const MAX_STEPS: u64 = MAX_ITEMS * 4;

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Schema {
    Nothing,
    Number,
    Enum(Vec<String>),
    /// `string` or `bytes`, which are one on the wire.
    Bytes,
    Fixed(usize),
    Array(Box<Schema>),
    Map(Box<Schema>),
    Union(Vec<Schema>),
    Record(Vec<(String, Schema)>),
    /// A place in the list of named types.
    Named(usize),
}

/// The named types of a protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Types {
    names: Vec<String>,
    schemas: Vec<Schema>,
}

impl Types {
    /// Reads a type; a name stands for a type that was read before. `space` is the namespace that names without one belong to.
    pub(super) fn read(&mut self, value: &Value, space: &str) -> Result<Schema, String> {
        match value {
            Value::String(name) => self.by_name(name, space),
            Value::Array(branches) => {
                Ok(Schema::Union(branches.iter().map(|b| self.read(b, space)).collect::<Result<_, _>>()?))
            }
            Value::Object(object) => {
                let kind = object.get("type").ok_or("a type has no `type`")?;
                let Some(name) = kind.as_str() else { return self.read(kind, space) };
                let part = |key: &str| object.get(key).ok_or(format!("{name} has no `{key}`"));
                match name {
                    "array" => Ok(Schema::Array(Box::new(self.read(part("items")?, space)?))),
                    "map" => Ok(Schema::Map(Box::new(self.read(part("values")?, space)?))),
                    "record" | "error" | "enum" | "fixed" => self.define(name, object, space),
                    _ => self.by_name(name, space),
                }
            }
            _ => Err("a type is neither a name, a list nor an object".to_owned()),
        }
    }

    fn by_name(&self, name: &str, space: &str) -> Result<Schema, String> {
        Ok(match name {
            "null" => Schema::Nothing,
            "boolean" => Schema::Fixed(1),
            "int" | "long" => Schema::Number,
            "float" => Schema::Fixed(4),
            "double" => Schema::Fixed(8),
            "bytes" | "string" => Schema::Bytes,
            _ => {
                let full = full_name(name, space);
                let at = self.names.iter().position(|known| *known == full);
                Schema::Named(at.ok_or_else(|| format!("there is no type `{full}`"))?)
            }
        })
    }

    fn define(
        &mut self,
        kind: &str,
        object: &serde_json::Map<String, Value>,
        space: &str,
    ) -> Result<Schema, String> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a named type has no `name`")?;
        let space = text("namespace").unwrap_or(space);
        let full = full_name(name, space);
        let space = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
        let list = |key: &str| {
            object.get(key).and_then(Value::as_array).ok_or_else(|| format!("`{full}` has no `{key}`"))
        };
        // A record may hold itself: its name is known before its fields.
        let at = self.names.len();
        self.names.push(full.clone());
        self.schemas.push(Schema::Nothing);
        self.schemas[at] = match kind {
            "enum" => {
                let symbols = list("symbols")?.iter().map(|s| s.as_str().map(str::to_owned));
                Schema::Enum(symbols.collect::<Option<_>>().ok_or("a symbol is no text")?)
            }
            "fixed" => {
                let size = object.get("size").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
                Schema::Fixed(size.ok_or_else(|| format!("`{full}` has no `size`"))?)
            }
            _ => {
                let mut fields = Vec::new();
                for field in list("fields")? {
                    let name = field.get("name").and_then(Value::as_str).ok_or("a field has no name")?;
                    let schema = field.get("type").ok_or_else(|| format!("field `{name}` has no type"))?;
                    fields.push((name.to_owned(), self.read(schema, &space)?));
                }
                Schema::Record(fields)
            }
        };
        Ok(Schema::Named(at))
    }

    /// The type itself, where the schema only names it.
    pub(super) fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        match schema {
            Schema::Named(at) => &self.schemas[*at],
            other => other,
        }
    }

    /// Reads over a value.
    pub(super) fn skip(&self, schema: &Schema, reader: &mut Reader<'_>) -> Result<(), WireError> {
        let mut steps = 0;
        self.skip_within(schema, reader, 0, &mut steps)
    }

    fn skip_within(
        &self,
        schema: &Schema,
        reader: &mut Reader<'_>,
        depth: usize,
        steps: &mut u64,
    ) -> Result<(), WireError> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return Err(WireError::TooMany("values"));
        }
        if depth > MAX_DEPTH {
            return Err(WireError::Deep);
        }
        match schema {
            Schema::Nothing => Ok(()),
            Schema::Number | Schema::Enum(_) => reader.long().map(drop),
            Schema::Bytes => reader.range().map(drop),
            Schema::Fixed(length) => reader.fixed(*length).map(drop),
            Schema::Array(items) => {
                blocks(reader, |reader| self.skip_within(items, reader, depth + 1, steps))
            }
            Schema::Map(values) => blocks(reader, |reader| {
                reader.range()?;
                self.skip_within(values, reader, depth + 1, steps)
            }),
            Schema::Union(branches) => {
                let at = reader.long()?;
                let branch = usize::try_from(at).ok().and_then(|at| branches.get(at));
                self.skip_within(branch.ok_or(WireError::Branch(at, "a union"))?, reader, depth + 1, steps)
            }
            Schema::Record(fields) => {
                fields.iter().try_for_each(|(_, field)| self.skip_within(field, reader, depth + 1, steps))
            }
            Schema::Named(at) => self.skip_within(&self.schemas[*at], reader, depth + 1, steps),
        }
    }
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.to_owned() } else { format!("{space}.{name}") }
}

/// Calls `item` for each item of all blocks.
fn blocks(
    reader: &mut Reader<'_>,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    loop {
        let count = reader.block()?;
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            item(reader)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(schema: &str, bytes: &[u8]) -> Result<usize, WireError> {
        let mut types = Types::default();
        let schema = types.read(&serde_json::from_str(schema).unwrap(), "").unwrap();
        let mut reader = Reader::new(bytes);
        types.skip(&schema, &mut reader).map(|()| reader.position())
    }

    #[test]
    fn every_kind_of_value_is_read_over() {
        let fields: Vec<String> = [
            r#""null""#,
            r#""boolean""#,
            r#""int""#,
            r#""double""#,
            r#""string""#,
            r#"{"type":"fixed","name":"F","size":2}"#,
            r#"{"type":"enum","name":"E","symbols":["A"]}"#,
            r#"{"type":"array","items":"long"}"#,
            r#"{"type":"map","values":"bytes"}"#,
            r#"["null","F"]"#,
        ]
        .iter()
        .enumerate()
        .map(|(i, kind)| format!(r#"{{"name":"f{i}","type":{kind}}}"#))
        .collect();
        let schema = format!(r#"{{"type":"record","name":"n.R","fields":[{}]}}"#, fields.join(","));
        let mut bytes = vec![1, 0x80, 1];
        bytes.extend([0; 8]);
        bytes.extend([4, b'h', b'i', 9, 9, 0, 4, 2, 2, 0, 2, 2, b'k', 0, 0, 2, 7, 7]);
        assert_eq!(skipped(&schema, &bytes), Ok(bytes.len()));
    }

    #[test]
    fn values_without_bytes_and_values_in_values_have_limits() {
        let mut endless = Vec::new();
        super::super::wire::put_long(&mut endless, i64::MAX);
        assert_eq!(
            skipped(r#"{"type":"array","items":"null"}"#, &endless),
            Err(WireError::TooMany("values"))
        );
        let nested = r#"{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}"#;
        assert_eq!(skipped(nested, &[2; 1000]), Err(WireError::Deep));
        assert_eq!(skipped(nested, &[2, 2, 0]), Ok(3));
        assert_eq!(skipped(r#"["null"]"#, &[4]), Err(WireError::Branch(2, "a union")));
    }
}
