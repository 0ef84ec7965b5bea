//! Reads the few Java objects that key stores hold, from the stream that `ObjectOutputStream` writes (the JDK's
//! "Object Serialization Stream Protocol", version 2).
//!
//! Nothing is ever made by a name in the stream: it is parsed into plain values, of known classes only, with limits on
//! depth and number. Everything that the known classes do not need is refused.

use std::rc::Rc;

use zeroize::Zeroizing;

use super::modified_utf8;

/// How deep objects, classes and their parents may nest.
const MAX_DEPTH: usize = 16;
/// How many things a stream may have that can be referred to.
const MAX_HANDLES: usize = 256;
/// How many fields a class may have.
const MAX_FIELDS: usize = 16;

const CLASSES: [&str; 8] = [
    "com.sun.crypto.provider.SealedObjectForKeyProtector",
    "javax.crypto.SealedObject",
    "javax.crypto.spec.SecretKeySpec",
    "java.security.KeyRep",
    "java.security.KeyRep$Type",
    "java.lang.Enum",
    "java.lang.String",
    "[B",
];

const MAGIC_AND_VERSION: [u8; 4] = [0xac, 0xed, 0, 5];
const TC_NULL: u8 = 0x70;
const TC_REFERENCE: u8 = 0x71;
const TC_CLASSDESC: u8 = 0x72;
const TC_OBJECT: u8 = 0x73;
const TC_STRING: u8 = 0x74;
const TC_ARRAY: u8 = 0x75;
const TC_ENDBLOCKDATA: u8 = 0x78;
const TC_ENUM: u8 = 0x7e;
const BASE_HANDLE: u32 = 0x7e_0000;
const SC_WRITE_METHOD: u8 = 1;
const SC_SERIALIZABLE: u8 = 2;
const SC_EXTERNALIZABLE: u8 = 4;

/// Why a stream is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SerialError {
    /// It ends too early.
    Cut,
    /// An object of a class that has no business in a key store.
    UnknownClass(String),
    /// Something else is wrong.
    Bad(&'static str),
}

/// A value in a stream.
#[derive(Clone)]
pub(super) enum Value {
    Null,
    /// A primitive number: never of interest.
    Number,
    Text(Rc<str>),
    Bytes(Rc<Zeroizing<Vec<u8>>>),
    Enum(Rc<str>),
    Object(Rc<Object>),
}

/// An object: its class and its fields, those of its parents first.
pub(super) struct Object {
    pub(super) class: Rc<str>,
    fields: Vec<(Rc<str>, Value)>,
}

impl Object {
    fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.field(name) {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.field(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn constant(&self, name: &str) -> Option<&str> {
        match self.field(name) {
            Some(Value::Enum(text)) => Some(text),
            _ => None,
        }
    }
}

/// Reads the one object of a stream; also gives the number of bytes it took.
pub(super) fn read(bytes: &[u8]) -> Result<(Rc<Object>, usize), SerialError> {
    let mut stream = Stream { bytes, at: 0, handles: Vec::new() };
    if stream.take(4)? != MAGIC_AND_VERSION {
        return Err(SerialError::Bad("not a stream of Java objects"));
    }
    match stream.value(MAX_DEPTH)? {
        Value::Object(object) => Ok((object, stream.at)),
        _ => Err(SerialError::Bad("a stream without an object")),
    }
}

/// A class as the stream describes it.
struct Class {
    name: Rc<str>,
    flags: u8,
    fields: Vec<(u8, Rc<str>)>,
    parent: Option<Rc<Class>>,
}

/// What a reference can point at. An object under construction has its place already, and may not be pointed at.
#[derive(Clone)]
enum Handle {
    Unfinished,
    Class(Rc<Class>),
    Value(Value),
}

struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
    handles: Vec<Handle>,
}

impl<'a> Stream<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], SerialError> {
        let taken = self.bytes[self.at..].get(..n).ok_or(SerialError::Cut)?;
        self.at += n;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, SerialError> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self, n_bytes: usize) -> Result<u32, SerialError> {
        Ok(self.take(n_bytes)?.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    }

    fn utf(&mut self) -> Result<Rc<str>, SerialError> {
        let length = self.number(2)?;
        let text = modified_utf8(self.take(length as usize)?);
        Ok(Rc::from(text.ok_or(SerialError::Bad("a text is not Java's UTF-8"))?))
    }

    /// Gives the next thing its number.
    fn handle(&mut self, handle: Handle) -> Result<usize, SerialError> {
        if self.handles.len() == MAX_HANDLES {
            return Err(SerialError::Bad("a stream of too many objects"));
        }
        self.handles.push(handle);
        Ok(self.handles.len() - 1)
    }

    fn referred(&mut self) -> Result<Handle, SerialError> {
        let number = self.number(4)?.checked_sub(BASE_HANDLE);
        let handle = number.and_then(|number| self.handles.get(number as usize));
        handle.cloned().ok_or(SerialError::Bad("a reference to nothing"))
    }

    fn value(&mut self, depth: usize) -> Result<Value, SerialError> {
        let depth = depth.checked_sub(1).ok_or(SerialError::Bad("objects nest too deeply"))?;
        match self.byte()? {
            TC_NULL => Ok(Value::Null),
            TC_REFERENCE => match self.referred()? {
                Handle::Value(value) => Ok(value),
                _ => Err(SerialError::Bad("a reference to something else than a value")),
            },
            TC_STRING => {
                let value = Value::Text(self.utf()?);
                self.handle(Handle::Value(value.clone()))?;
                Ok(value)
            }
            TC_ARRAY => self.array(depth),
            TC_ENUM => {
                let class = self.class(depth)?.ok_or(SerialError::Bad("a constant without a class"))?;
                if &*class.name != "java.security.KeyRep$Type" {
                    return Err(SerialError::UnknownClass(class.name.to_string()));
                }
                let at = self.handle(Handle::Unfinished)?;
                let Value::Text(name) = self.value(depth)? else {
                    return Err(SerialError::Bad("a constant without a name"));
                };
                self.handles[at] = Handle::Value(Value::Enum(name.clone()));
                Ok(Value::Enum(name))
            }
            TC_OBJECT => self.object(depth),
            _ => Err(SerialError::Bad("something in a stream of objects that no key store has")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, SerialError> {
        let class = self.class(depth)?.ok_or(SerialError::Bad("an array without a class"))?;
        if &*class.name != "[B" {
            return Err(SerialError::UnknownClass(class.name.to_string()));
        }
        let at = self.handle(Handle::Unfinished)?;
        let length = self.number(4)?;
        let value = Value::Bytes(Rc::new(Zeroizing::new(self.take(length as usize)?.to_vec())));
        self.handles[at] = Handle::Value(value.clone());
        Ok(value)
    }

    fn object(&mut self, depth: usize) -> Result<Value, SerialError> {
        let class = self.class(depth)?.ok_or(SerialError::Bad("an object without a class"))?;
        if matches!(&*class.name, "[B" | "java.lang.String" | "java.lang.Enum" | "java.security.KeyRep$Type")
        {
            return Err(SerialError::Bad("an object of a class that is written in another way"));
        }
        let at = self.handle(Handle::Unfinished)?;
        let mut lineage: Vec<&Class> =
            std::iter::successors(Some(&*class), |class| class.parent.as_deref()).collect();
        lineage.reverse();
        let mut fields = Vec::new();
        for class in lineage {
            for (kind, name) in &class.fields {
                let value = match kind {
                    b'L' | b'[' => self.value(depth)?,
                    b'B' | b'Z' => self.take(1).map(|_| Value::Number)?,
                    b'C' | b'S' => self.take(2).map(|_| Value::Number)?,
                    b'I' | b'F' => self.take(4).map(|_| Value::Number)?,
                    _ => self.take(8).map(|_| Value::Number)?,
                };
                fields.push((name.clone(), value));
            }
            // A class with a write method of its own may add things; these classes add nothing.
            if class.flags & SC_WRITE_METHOD != 0 && self.byte()? != TC_ENDBLOCKDATA {
                return Err(SerialError::Bad("an object with more in it than its fields"));
            }
        }
        let value = Value::Object(Rc::new(Object { class: class.name.clone(), fields }));
        self.handles[at] = Handle::Value(value.clone());
        Ok(value)
    }

    fn class(&mut self, depth: usize) -> Result<Option<Rc<Class>>, SerialError> {
        let depth = depth.checked_sub(1).ok_or(SerialError::Bad("objects nest too deeply"))?;
        match self.byte()? {
            TC_NULL => return Ok(None),
            TC_REFERENCE => match self.referred()? {
                Handle::Class(class) => return Ok(Some(class)),
                _ => return Err(SerialError::Bad("a reference to something else than a class")),
            },
            TC_CLASSDESC => {}
            _ => return Err(SerialError::Bad("a class that is no class")),
        }
        let name = self.utf()?;
        if !CLASSES.contains(&&*name) {
            return Err(SerialError::UnknownClass(name.to_string()));
        }
        self.take(8)?; // the class's version, the same in every JDK
        let at = self.handle(Handle::Unfinished)?;
        let flags = self.byte()?;
        if flags & SC_SERIALIZABLE == 0 || flags & SC_EXTERNALIZABLE != 0 {
            return Err(SerialError::Bad("a class that is written in another way"));
        }
        let n_fields = self.number(2)? as usize;
        if n_fields > MAX_FIELDS {
            return Err(SerialError::Bad("a class of too many fields"));
        }
        let mut fields = Vec::with_capacity(n_fields);
        for _ in 0..n_fields {
            let kind = self.byte()?;
            if !b"BCDFIJSZL[".contains(&kind) {
                return Err(SerialError::Bad("a field of no type"));
            }
            let name = self.utf()?;
            if matches!(kind, b'L' | b'[') && !matches!(self.value(depth)?, Value::Text(_)) {
                return Err(SerialError::Bad("a field whose type has no name"));
            }
            fields.push((kind, name));
        }
        if self.byte()? != TC_ENDBLOCKDATA {
            return Err(SerialError::Bad("a class with notes"));
        }
        let parent = self.class(depth)?;
        let class = Rc::new(Class { name, flags, fields, parent });
        self.handles[at] = Handle::Class(class.clone());
        Ok(Some(class))
    }
}

#[cfg(test)]
mod tests;
