//! What a component says about its properties: key, documentation, kind, default.

use std::borrow::Cow;

use super::view::View;

/// A component's settings, read from properties. Derive it for a struct; `#[derive(Configuration)]` has the attributes.
pub trait Configuration: Sized {
    /// Every property that the component knows, also those without effect.
    const PROPERTIES: &'static [Property];

    /// Reads the settings. `None` where an error was noted in `view`; reading goes on, so that all are told at once.
    fn read(view: &mut View<'_>) -> Option<Self>;
}

/// One property, as documented.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// The key below the component's prefix (`hdfs.path`). Ends with a dot (or is empty) where `prefix` or `nested` is set.
    pub key: &'static str,
    /// What it is for, from the field's doc comment.
    pub doc: &'static str,
    /// What its text must be ([`PropertyValue::KIND`]).
    pub kind: &'static str,
    /// The text that is read where the file has none.
    pub default: Option<&'static str>,
    /// Other spellings of the key, as good as the first.
    pub aliases: &'static [&'static str],
    /// Old spellings of the key, which are read and noted.
    pub deprecated: &'static [&'static str],
    /// Whether it stands for all keys that begin with `key`.
    pub prefix: bool,
    /// Whether a component without it is not built.
    pub required: bool,
    /// Whether its value is never shown.
    pub secret: bool,
    /// Whether an unreadable or too small value is replaced by the default with a warning, as Java does in places.
    pub default_if_bad: bool,
    /// The smallest good value.
    pub min: Option<&'static str>,
    /// The largest good value.
    pub max: Option<&'static str>,
    /// Whether it does anything.
    pub effect: Effect,
    /// The properties of a part, all below `key`. [`flat`] lists them with their whole keys.
    pub nested: Option<&'static [Property]>,
}

/// What setting a property does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// What its documentation says.
    Works,
    /// Nothing, as it means nothing here; noted as information.
    Ignored {
        /// Why it means nothing.
        why: &'static str,
    },
    /// The component is not built, as ignoring it would change a guarantee or security.
    Refused {
        /// What to do instead.
        instead: &'static str,
        /// A value, in any case, that asks for nothing special and is let through.
        unless: Option<&'static str>,
    },
}

impl Property {
    /// A property that says nothing yet: `Property { key: "type", ..Property::NEW }`.
    pub const NEW: Property = Property {
        key: "",
        doc: "",
        kind: "text",
        default: None,
        aliases: &[],
        deprecated: &[],
        prefix: false,
        required: false,
        secret: false,
        default_if_bad: false,
        min: None,
        max: None,
        effect: Effect::Works,
        nested: None,
    };
}

/// Properties with their whole keys below the component, in order, those of nested parts in place.
pub fn flat(properties: &'static [Property]) -> Vec<(String, &'static Property)> {
    fn walk(before: &str, properties: &'static [Property], into: &mut Vec<(String, &'static Property)>) {
        for property in properties {
            let key = format!("{before}{}", property.key);
            match property.nested {
                Some(nested) => walk(&key, nested, into),
                None => into.push((key, property)),
            }
        }
    }
    let mut all = Vec::new();
    walk("", properties, &mut all);
    all
}

/// A type of value that a property can have. It carries the unit and the check.
pub trait PropertyValue: Sized {
    /// What the text must be, as in "`soon` is not milliseconds".
    const KIND: &'static str;

    /// Whether values are never shown, in any message.
    const SECRET: bool = false;

    /// Reads the text. The error says why it is none ("expected a whole number"), without repeating the text.
    fn parse(text: &str) -> Result<Self, String>;

    /// Makes sense of a careless text that `parse` refused, and says as what it was read (`128`).
    fn forgive(_text: &str) -> Option<(Self, String)> {
        None
    }

    /// The text as it may stand in a message.
    fn shown(text: &str) -> Cow<'_, str> {
        if Self::SECRET { Cow::Borrowed("***") } else { Cow::Borrowed(text) }
    }
}

/// Reads one of a few words, in any case. For the [`PropertyValue::parse`] of enums.
///
/// ```
/// use flumen_core::config::{PropertyValue, choose};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Order { Oldest, Youngest }
///
/// impl PropertyValue for Order {
///     const KIND: &'static str = "`oldest` or `youngest`";
///     fn parse(text: &str) -> Result<Self, String> {
///         choose(text, &[("oldest", Order::Oldest), ("youngest", Order::Youngest)])
///     }
/// }
/// assert_eq!(Order::parse("OLDEST"), Ok(Order::Oldest));
/// ```
pub fn choose<T: Clone>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let text = text.trim();
    if let Some((_, value)) = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Ok(value.clone());
    }
    let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(format!("expected one of {}", names.join(", ")))
}

impl Configuration for () {
    const PROPERTIES: &'static [Property] = &[];

    fn read(_view: &mut View<'_>) -> Option<Self> {
        Some(())
    }
}
