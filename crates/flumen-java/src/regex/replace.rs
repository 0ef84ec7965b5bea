//! Replacement texts: `$1`, `${name}` and `\` as `Matcher.replaceAll` reads them.

use super::error::ReplacementError;

/// A replacement text made ready for one pattern. Errors in it are told when something is to be replaced, as in Java.
#[derive(Debug, Clone)]
pub struct Replacement {
    pub(super) parts: Result<Vec<Part>, ReplacementError>,
}

/// Text, or the text of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(Vec<u8>),
    Group(usize),
}

impl Replacement {
    /// Reads `text` for a pattern with `groups` groups of these names.
    pub(super) fn new(text: &[u8], groups: usize, names: &[(String, u32)]) -> Replacement {
        Replacement { parts: Reader { text, pos: 0, groups, names }.parts() }
    }

    /// What is wrong with the text, for whoever wants to tell earlier than Java.
    pub fn error(&self) -> Option<&ReplacementError> {
        self.parts.as_ref().err()
    }
}

struct Reader<'r> {
    text: &'r [u8],
    pos: usize,
    groups: usize,
    names: &'r [(String, u32)],
}

fn wrong<T>(message: impl Into<String>) -> Result<T, ReplacementError> {
    Err(ReplacementError { message: message.into(), no_such_group: false })
}

impl Reader<'_> {
    fn parts(mut self) -> Result<Vec<Part>, ReplacementError> {
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        while let Some(byte) = self.peek() {
            self.pos += 1;
            match byte {
                b'\\' => match self.peek() {
                    None => return wrong("character to be escaped is missing"),
                    Some(next) => {
                        plain.push(next);
                        self.pos += 1;
                    }
                },
                b'$' => {
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(Part::Group(self.group()?));
                }
                byte => plain.push(byte),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(parts)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn group(&mut self) -> Result<usize, ReplacementError> {
        let group = match self.peek() {
            None => return wrong("Illegal group reference: group index is missing"),
            Some(b'{') => return self.named(),
            Some(digit @ b'0'..=b'9') => usize::from(digit - b'0'),
            Some(_) => return wrong("Illegal group reference"),
        };
        self.pos += 1;
        let mut group = group;
        // As many digits as name an existing group.
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let longer = group * 10 + usize::from(digit - b'0');
            if longer > self.groups {
                break;
            }
            group = longer;
            self.pos += 1;
        }
        if group > self.groups {
            return Err(ReplacementError { message: format!("No group {group}"), no_such_group: true });
        }
        Ok(group)
    }

    fn named(&mut self) -> Result<usize, ReplacementError> {
        self.pos += 1;
        let from = self.pos;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric()) {
            self.pos += 1;
        }
        let name = String::from_utf8_lossy(&self.text[from..self.pos]).into_owned();
        if name.is_empty() {
            return wrong("named capturing group has 0 length name");
        }
        if self.peek() != Some(b'}') {
            return wrong("named capturing group is missing trailing '}'");
        }
        self.pos += 1;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return wrong(format!("capturing group name {{{name}}} starts with digit character"));
        }
        match self.names.iter().find(|(known, _)| *known == name) {
            Some(&(_, group)) => Ok(group as usize),
            None => wrong(format!("No group with name {{{name}}}")),
        }
    }
}
