//! Lists of values: separated by blanks, or by commas.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Deref;

use super::numbers::without_remark;
use super::property::PropertyValue;

/// Values separated by blanks (`channels = c1 c2`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words<T = String>(pub Vec<T>);

/// Values separated by commas, blanks around them allowed (`hosts = h1:41414, h2:41414`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commas<T = String>(pub Vec<T>);

/// Parses each item; the error says which is bad.
fn parse_all<'a, T: PropertyValue>(items: impl Iterator<Item = &'a str>) -> Result<Vec<T>, String> {
    (1..).zip(items).map(|(n, item)| T::parse(item).map_err(|why| at(n, why))).collect()
}

fn at(n: usize, why: impl Display) -> String {
    format!("item {n}: {why}")
}

/// Drops empty items, and what stands behind a `#`.
fn forgive_all<T: PropertyValue>(text: &str, separators: &[char], join: &str) -> Option<(Vec<T>, String)> {
    let text = without_remark(text).unwrap_or(text);
    let items: Vec<&str> = text.split(separators).map(str::trim).filter(|item| !item.is_empty()).collect();
    Some((parse_all(items.iter().copied()).ok()?, items.join(join)))
}

impl<T: PropertyValue> PropertyValue for Words<T> {
    const KIND: &'static str = "a list separated by blanks";
    const SECRET: bool = T::SECRET;

    fn shown(text: &str) -> Cow<'_, str> {
        T::shown(text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let items = (1..).zip(text.split_whitespace()).map(|(n, item)| match item {
            "#" => Err(at(n, "expected no remark")),
            item if item.contains(',') => Err(at(n, "expected no comma")),
            item => T::parse(item).map_err(|why| at(n, why)),
        });
        items.collect::<Result<_, _>>().map(Words)
    }

    fn forgive(text: &str) -> Option<(Self, String)> {
        forgive_all(text, &[' ', '\t', '\n', '\r', '\x0c', ','], " ")
            .map(|(items, shown)| (Words(items), shown))
    }
}

impl<T: PropertyValue> PropertyValue for Commas<T> {
    const KIND: &'static str = "a list separated by commas";
    const SECRET: bool = T::SECRET;

    fn shown(text: &str) -> Cow<'_, str> {
        T::shown(text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Commas(Vec::new()));
        }
        let items = (1..).zip(text.split(',').map(str::trim)).map(|(n, item)| match item {
            "" => Err(at(n, "it is empty")),
            item => T::parse(item).map_err(|why| at(n, why)),
        });
        items.collect::<Result<_, _>>().map(Commas)
    }

    fn forgive(text: &str) -> Option<(Self, String)> {
        forgive_all(text, &[','], ",").map(|(items, shown)| (Commas(items), shown))
    }
}

impl<T> Deref for Words<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Deref for Commas<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
