//! Groups: capturing, named, look-around, atomic, and flags in the pattern.

use super::Flags;
use super::ast::{Alternatives, Behind, Node};
use super::parse::{Parsed, Parser, ascii, is_supplementary};
use super::study::study;

impl Parser {
    /// A group and its quantifier with the cursor on `(`; nothing for `(?i)`.
    pub(super) fn group(&mut self) -> Parsed<Option<Node>> {
        self.enter()?;
        let flags = self.flags;
        let node = if self.next() == u32::from(b'?') {
            match self.special_group()? {
                Some(node) => node,
                None => {
                    self.depth -= 1;
                    return Ok(None);
                }
            }
        } else {
            let index = Some(self.new_group()?);
            Node::Group { index, body: self.alternatives()? }
        };
        if self.read() != u32::from(b')') {
            return Err(self.error("Unclosed group"));
        }
        self.flags = flags;
        self.depth -= 1;
        Ok(Some(self.quantified(node)?))
    }

    /// What follows `(?`.
    fn special_group(&mut self) -> Parsed<Option<Node>> {
        Ok(Some(match ascii(self.skip()) {
            b':' => Node::Group { index: None, body: self.alternatives()? },
            b'=' => Node::Look { behind: None, negative: false, body: self.alternatives()? },
            b'!' => Node::Look { behind: None, negative: true, body: self.alternatives()? },
            b'>' => Node::Atomic(self.alternatives()?),
            b'<' => return self.named_or_behind().map(Some),
            b'$' | b'@' => return Err(self.error("Unknown group type")),
            _ => {
                self.unread();
                let canonical = self.inline_flags();
                match ascii(self.read()) {
                    b')' | b':' if canonical => {
                        return Err(self.error("canonical equivalence (?c) is not supported"));
                    }
                    b')' => return Ok(None),
                    b':' => Node::Group { index: None, body: self.alternatives()? },
                    _ => return Err(self.error("Unknown inline modifier")),
                }
            }
        }))
    }

    fn named_or_behind(&mut self) -> Parsed<Node> {
        let c = self.read();
        if c == u32::from(b'=') || c == u32::from(b'!') {
            let from = self.cursor;
            let body = self.alternatives()?;
            let behind = self.behind(&body, from)?;
            return Ok(Node::Look { behind: Some(behind), negative: c == u32::from(b'!'), body });
        }
        let name = self.group_name(c)?;
        if self.names.iter().any(|(known, _)| *known == name) {
            return Err(self.error(format!("Named capturing group <{name}> is already defined")));
        }
        let index = self.new_group()?;
        self.names.push((name, index));
        Ok(Node::Group { index: Some(index), body: self.alternatives()? })
    }

    fn behind(&mut self, body: &Alternatives, from: usize) -> Parsed<Behind> {
        let lengths = study(body);
        if !lengths.limited {
            return Err(self.error("Look-behind group does not have an obvious maximum length"));
        }
        // Java looks at all of the pattern from here on, and only at what stands there as such.
        let rest = self.chars.get(from..).unwrap_or_default();
        let supplementary = rest.iter().any(|&c| is_supplementary(c));
        Ok(Behind { min: lengths.min, max: lengths.max, supplementary })
    }

    /// `[a-zA-Z][a-zA-Z0-9]*>` whose first character was read.
    pub(super) fn group_name(&mut self, first: u32) -> Parsed<String> {
        if !ascii(first).is_ascii_alphabetic() {
            return Err(self.error("capturing group name does not start with a Latin letter"));
        }
        let mut name = String::new();
        let mut c = first;
        while ascii(c).is_ascii_alphanumeric() {
            name.push(char::from(ascii(c)));
            c = self.read();
        }
        if c != u32::from(b'>') {
            return Err(self.error("named capturing group is missing trailing '>'"));
        }
        Ok(name)
    }

    /// Takes letters such as `i-s`; true if canonical equivalence was asked for.
    fn inline_flags(&mut self) -> bool {
        let (mut on, mut canonical) = (true, false);
        let mut c = self.peek();
        loop {
            let flag = match ascii(c) {
                b'i' => Flags::CASE_INSENSITIVE,
                b'm' => Flags::MULTILINE,
                b's' => Flags::DOTALL,
                b'd' => Flags::UNIX_LINES,
                b'u' => Flags::UNICODE_CASE,
                b'x' => Flags::COMMENTS,
                b'U' => Flags::UNICODE_CHARACTER_CLASS | Flags::UNICODE_CASE,
                b'c' => {
                    canonical |= on;
                    Flags::NONE
                }
                b'-' if on => {
                    on = false;
                    c = self.next();
                    continue;
                }
                _ => return canonical,
            };
            self.flags = if on { self.flags | flag } else { self.flags.without(flag) };
            c = self.next();
        }
    }
}
