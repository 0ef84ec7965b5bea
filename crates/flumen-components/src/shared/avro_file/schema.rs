//! A schema: where a datum ends, and the fingerprint by which it is known.
//!
//! Canonical form and fingerprint are those of the Avro specification ("Parsing Canonical Form", CRC-64-AVRO).

use super::{NotAvro, parts::whole_number};
use serde_json::{Map, Value};
use std::{collections::HashMap, fmt::Write};

/// Data within data, at most: of a schema that contains itself.
const DEEPEST: usize = 200;
/// Types of a schema, at most.
const MOST_TYPES: usize = 1_000_000;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    shapes: Vec<Shape>,
    root: usize,
    canonical: String,
}

/// What bytes a type has. Types within are places in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// So many bytes.
    Fixed(usize),
    Number,
    /// A length, and so many bytes.
    Long,
    Array(usize),
    Map(usize),
    Union(Vec<usize>),
    /// Fields that can have bytes.
    Record(Vec<usize>),
}

impl Schema {
    pub(crate) fn parse(text: &str) -> Result<Self, NotAvro> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| NotAvro::new(format!("the schema is no JSON: {error}")))?;
        let mut reader = Reader { shapes: Vec::new(), names: HashMap::new(), canonical: String::new() };
        let root = reader.read(&value, "")?;
        Ok(Self { shapes: reader.shapes, root, canonical: reader.canonical })
    }

    /// The schema's fingerprint: 64 bits.
    pub(crate) fn fingerprint(&self) -> u64 {
        const EMPTY: u64 = 0xc15d_213a_a4d7_a795;
        self.canonical.bytes().fold(EMPTY, |hash, byte| {
            let mut low = (hash ^ u64::from(byte)) & 0xff;
            for _ in 0..8 {
                low = (low >> 1) ^ (EMPTY & (low & 1).wrapping_neg());
            }
            (hash >> 8) ^ low
        })
    }

    /// Whether data have no bytes at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.shapes[self.root].is_empty()
    }

    /// How long the datum at the start of these bytes is.
    pub(crate) fn datum_len(&self, bytes: &[u8]) -> Result<usize, NotAvro> {
        let mut rest = bytes;
        self.skip(self.root, &mut rest, 0)?;
        Ok(bytes.len() - rest.len())
    }

    fn skip(&self, shape: usize, rest: &mut &[u8], depth: usize) -> Result<(), NotAvro> {
        if depth > DEEPEST {
            return Err(NotAvro::new(format!("a datum has more than {DEEPEST} levels")));
        }
        match &self.shapes[shape] {
            Shape::Fixed(len) => pass(*len, rest),
            Shape::Number => whole_number(rest).map(|_| ()),
            Shape::Long => long(rest),
            Shape::Record(fields) => fields.iter().try_for_each(|field| self.skip(*field, rest, depth + 1)),
            Shape::Union(branches) => {
                let branch = usize::try_from(whole_number(rest)?).ok().and_then(|n| branches.get(n));
                let branch =
                    branch.ok_or_else(|| NotAvro::new("a datum names a branch that its union has not"))?;
                self.skip(*branch, rest, depth + 1)
            }
            Shape::Array(items) => self.skip_blocks(*items, false, rest, depth),
            Shape::Map(values) => self.skip_blocks(*values, true, rest, depth),
        }
    }

    fn skip_blocks(&self, shape: usize, keys: bool, rest: &mut &[u8], depth: usize) -> Result<(), NotAvro> {
        loop {
            let count = whole_number(rest)?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                long(rest)?;
                continue;
            }
            // Nothing is there of items without bytes, however many.
            if !keys && self.shapes[shape].is_empty() {
                continue;
            }
            for _ in 0..count {
                if keys {
                    long(rest)?;
                }
                self.skip(shape, rest, depth + 1)?;
            }
        }
    }
}

impl Shape {
    fn is_empty(&self) -> bool {
        match self {
            Self::Fixed(len) => *len == 0,
            Self::Record(fields) => fields.is_empty(),
            _ => false,
        }
    }
}

fn pass(len: usize, rest: &mut &[u8]) -> Result<(), NotAvro> {
    *rest = rest.get(len..).ok_or_else(|| NotAvro::new("a datum goes on behind the end of its block"))?;
    Ok(())
}

fn long(rest: &mut &[u8]) -> Result<(), NotAvro> {
    let len = usize::try_from(whole_number(rest)?).map_err(|_| NotAvro::new("a length is negative"))?;
    pass(len, rest)
}

struct Reader {
    shapes: Vec<Shape>,
    /// Whole names, and their shapes.
    names: HashMap<String, usize>,
    canonical: String,
}

impl Reader {
    fn read(&mut self, value: &Value, space: &str) -> Result<usize, NotAvro> {
        if self.shapes.len() >= MOST_TYPES {
            return Err(NotAvro::new(format!("the schema has more than {MOST_TYPES} types")));
        }
        match value {
            Value::String(name) => self.named(name, space),
            Value::Array(branches) => {
                let mut shapes = Vec::new();
                self.list(branches, |reader, branch| {
                    shapes.push(reader.read(branch, space)?);
                    Ok(())
                })?;
                Ok(self.add(Shape::Union(shapes)))
            }
            Value::Object(object) => self.object(object, space),
            _ => Err(NotAvro::new("a type in the schema is neither name, list nor object")),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, space: &str) -> Result<usize, NotAvro> {
        let word = match object.get("type") {
            Some(Value::String(word)) => word.as_str(),
            Some(inner) => return self.read(inner, space),
            None => return Err(NotAvro::new("an object in the schema has no type")),
        };
        match word {
            "array" | "map" => {
                let key = if word == "array" { "items" } else { "values" };
                let _ = write!(self.canonical, "{{\"type\":\"{word}\",\"{key}\":");
                let inner =
                    object.get(key).ok_or_else(|| NotAvro::new(format!("a type {word} has no {key}")))?;
                let inner = self.read(inner, space)?;
                self.canonical.push('}');
                Ok(self.add(if word == "array" { Shape::Array(inner) } else { Shape::Map(inner) }))
            }
            "record" | "error" | "enum" | "fixed" => {
                let (name, inner_space) = whole_name(object, space)?;
                let _ = write!(self.canonical, "{{\"name\":\"{name}\",\"type\":\"{word}\"");
                let shape = self.add(Shape::Number);
                self.names.insert(name, shape);
                self.shapes[shape] = match word {
                    "enum" => self.symbols(object)?,
                    "fixed" => self.size(object)?,
                    _ => self.fields(object, &inner_space)?,
                };
                self.canonical.push('}');
                Ok(shape)
            }
            name => self.named(name, space),
        }
    }

    fn symbols(&mut self, object: &Map<String, Value>) -> Result<Shape, NotAvro> {
        let Some(Value::Array(symbols)) = object.get("symbols") else {
            return Err(NotAvro::new("an enum has no symbols"));
        };
        self.canonical.push_str(",\"symbols\":");
        self.list(symbols, |reader, symbol| {
            let _ = write!(reader.canonical, "\"{}\"", symbol.as_str().unwrap_or_default());
            Ok(())
        })?;
        Ok(Shape::Number)
    }

    fn size(&mut self, object: &Map<String, Value>) -> Result<Shape, NotAvro> {
        let size = object.get("size").and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or_else(|| NotAvro::new("a fixed has no size"))?;
        let _ = write!(self.canonical, ",\"size\":{size}");
        Ok(Shape::Fixed(size))
    }

    fn fields(&mut self, object: &Map<String, Value>, space: &str) -> Result<Shape, NotAvro> {
        let Some(Value::Array(fields)) = object.get("fields") else {
            return Err(NotAvro::new("a record has no fields"));
        };
        self.canonical.push_str(",\"fields\":");
        let mut shapes = Vec::new();
        self.list(fields, |reader, field| {
            let (name, inner) = (field.get("name").and_then(Value::as_str), field.get("type"));
            let (Some(name), Some(inner)) = (name, inner) else {
                return Err(NotAvro::new("a field has no name or no type"));
            };
            let _ = write!(reader.canonical, "{{\"name\":\"{name}\",\"type\":");
            let shape = reader.read(inner, space)?;
            reader.canonical.push('}');
            if !reader.shapes[shape].is_empty() {
                shapes.push(shape);
            }
            Ok(())
        })?;
        Ok(Shape::Record(shapes))
    }

    /// A list, in canonical form.
    fn list(
        &mut self,
        values: &[Value],
        mut each: impl FnMut(&mut Self, &Value) -> Result<(), NotAvro>,
    ) -> Result<(), NotAvro> {
        self.canonical.push('[');
        for (n, value) in values.iter().enumerate() {
            if n > 0 {
                self.canonical.push(',');
            }
            each(self, value)?;
        }
        self.canonical.push(']');
        Ok(())
    }

    fn named(&mut self, name: &str, space: &str) -> Result<usize, NotAvro> {
        let shape = match name {
            "null" => Shape::Fixed(0),
            "boolean" => Shape::Fixed(1),
            "int" | "long" => Shape::Number,
            "float" => Shape::Fixed(4),
            "double" => Shape::Fixed(8),
            "bytes" | "string" => Shape::Long,
            _ => {
                let whole = if name.contains('.') || space.is_empty() {
                    name.to_owned()
                } else {
                    format!("{space}.{name}")
                };
                let known = self.names.get_key_value(&whole).or_else(|| self.names.get_key_value(name));
                let (whole, shape) = known
                    .map(|(name, shape)| (name.clone(), *shape))
                    .ok_or_else(|| NotAvro::new(format!("the schema has no type `{name}`")))?;
                let _ = write!(self.canonical, "\"{whole}\"");
                return Ok(shape);
            }
        };
        let _ = write!(self.canonical, "\"{name}\"");
        Ok(self.add(shape))
    }

    fn add(&mut self, shape: Shape) -> usize {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }
}

/// A type's whole name, and the name space of what is within it.
fn whole_name(object: &Map<String, Value>, space: &str) -> Result<(String, String), NotAvro> {
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() {
        return Err(NotAvro::new("a type of the schema has no name"));
    }
    if let Some((space, _)) = name.rsplit_once('.') {
        return Ok((name.to_owned(), space.to_owned()));
    }
    let space = object.get("namespace").and_then(Value::as_str).unwrap_or(space);
    let whole = if space.is_empty() { name.to_owned() } else { format!("{space}.{name}") };
    Ok((whole, space.to_owned()))
}
