//! What may follow a backslash, and `\p{…}`.

use super::Flags;
use super::ast::{Assert, Fold, Node};
use super::classes::{self, Named};
use super::parse::{Parsed, Parser, ascii};

/// What an escape stands for.
pub(super) enum Escape {
    Char(u32),
    Class(Named),
    Node(Node),
    /// Not a character, and the caller wanted nothing else: it unwinds.
    Unbuilt,
}

impl Parser {
    /// An escape with the cursor on the backslash. `in_class`: within `[…]`; `build`: not only characters are wanted;
    /// `range`: within a class and before or after `-`.
    pub(super) fn escape(&mut self, in_class: bool, build: bool, range: bool) -> Parsed<Escape> {
        let c = self.skip();
        let letter = ascii(c);
        let node = match letter {
            b'0' => return Ok(Escape::Char(self.octal()?)),
            b'N' => return self.character_name(),
            b'a' => return Ok(Escape::Char(7)),
            b'c' => return Ok(Escape::Char(self.control()?)),
            b'e' => return Ok(Escape::Char(27)),
            b'f' => return Ok(Escape::Char(12)),
            b'n' => return Ok(Escape::Char(10)),
            b'r' => return Ok(Escape::Char(13)),
            b't' => return Ok(Escape::Char(9)),
            b'u' => return Ok(Escape::Char(self.unicode()?)),
            b'v' if range => return Ok(Escape::Char(11)),
            b'x' => return Ok(Escape::Char(self.hexadecimal()?)),
            b'D' | b'H' | b'S' | b'V' | b'W' | b'd' | b'h' | b's' | b'v' | b'w' => {
                if !build {
                    return Ok(Escape::Unbuilt);
                }
                let lower = u32::from(letter.to_ascii_lowercase());
                return match classes::predefined(lower, self.has(Flags::UNICODE_CHARACTER_CLASS)) {
                    Some(named) if letter.is_ascii_lowercase() => Ok(Escape::Class(named)),
                    Some(named) => Ok(Escape::Class(Named { set: named.set.negate(), basic: false })),
                    None => Err(self.unsupported()),
                };
            }
            _ if !letter.is_ascii_alphanumeric() => return Ok(Escape::Char(c)),
            _ if in_class => return Err(self.unsupported()),
            b'1'..=b'9' if build => self.numbered_reference(u32::from(letter - b'0')),
            b'1'..=b'9' => return Ok(Escape::Unbuilt),
            b'A' => Node::Assert(Assert::Begin),
            b'B' => Node::Assert(Assert::Word {
                negated: true,
                unicode: self.has(Flags::UNICODE_CHARACTER_CLASS),
            }),
            b'G' => Node::Assert(Assert::LastMatch),
            b'R' => Node::LineEnding,
            b'X' => Node::Cluster,
            b'Z' => Node::Assert(self.dollar(false)),
            b'b' if build => self.boundary()?,
            b'b' => return Ok(Escape::Unbuilt),
            b'k' => self.named_reference()?,
            b'z' => Node::Assert(Assert::End),
            _ => return Err(self.unsupported()),
        };
        Ok(if build { Escape::Node(node) } else { Escape::Unbuilt })
    }

    fn unsupported(&self) -> super::error::PatternError {
        self.error("Illegal/unsupported escape sequence")
    }

    fn fold(&self) -> Fold {
        match (self.has(Flags::CASE_INSENSITIVE), self.has(Flags::UNICODE_CASE)) {
            (true, true) => Fold::Unicode,
            (true, false) => Fold::Ascii,
            _ => Fold::Exact,
        }
    }

    fn boundary(&mut self) -> Parsed<Node> {
        if self.peek() == u32::from(b'{') {
            if self.skip() == u32::from(b'g') {
                if self.read() == u32::from(b'}') {
                    self.history = true;
                    return Ok(Node::Assert(Assert::Grapheme));
                }
                return Err(self.unsupported());
            }
            self.unread();
            self.unread();
        }
        Ok(Node::Assert(Assert::Word { negated: false, unicode: self.has(Flags::UNICODE_CHARACTER_CLASS) }))
    }

    /// `\1`: more digits belong to the number as long as such a group was opened before.
    fn numbered_reference(&mut self, mut group: u32) -> Node {
        while let digit @ b'0'..=b'9' = ascii(self.peek()) {
            let longer = group.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            if self.groups < longer {
                break;
            }
            group = longer;
            self.read();
        }
        self.history = true;
        Node::BackReference { group, fold: self.fold() }
    }

    fn named_reference(&mut self) -> Parsed<Node> {
        if self.read() != u32::from(b'<') {
            return Err(self.error("\\k is not followed by '<' for named capturing group"));
        }
        let first = self.read();
        let name = self.group_name(first)?;
        match self.names.iter().find(|(known, _)| *known == name) {
            None => Err(self.error(format!("named capturing group <{name}> does not exist"))),
            Some(&(_, group)) => {
                self.history = true;
                Ok(Node::BackReference { group, fold: self.fold() })
            }
        }
    }

    fn octal(&mut self) -> Parsed<u32> {
        let octal = |c: u32| (48..=55).contains(&c).then(|| c.wrapping_sub(48));
        let Some(first) = octal(self.read()) else {
            return Err(self.error("Illegal octal escape sequence"));
        };
        let Some(second) = octal(self.read()) else {
            self.unread();
            return Ok(first);
        };
        match octal(self.read()) {
            Some(third) if first <= 3 => Ok(first * 64 + second * 8 + third),
            _ => {
                self.unread();
                Ok(first * 8 + second)
            }
        }
    }

    fn control(&mut self) -> Parsed<u32> {
        if self.cursor < self.length {
            return Ok(self.read() ^ 64);
        }
        Err(self.error("Illegal control escape sequence"))
    }

    fn four_digits(&mut self) -> Parsed<u32> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = hex(self.read()).ok_or_else(|| self.error("Illegal Unicode escape sequence"))?;
            value = value * 16 + digit;
        }
        Ok(value)
    }

    /// `\uXXXX`; two of them may make a surrogate pair.
    fn unicode(&mut self) -> Parsed<u32> {
        let high = self.four_digits()?;
        if (0xD800..0xDC00).contains(&high) {
            let back = self.cursor;
            if self.read() == u32::from(b'\\') && self.read() == u32::from(b'u') {
                let low = self.four_digits()?;
                if (0xDC00..0xE000).contains(&low) {
                    return Ok(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                }
            }
            self.cursor = back;
        }
        Ok(high)
    }

    fn hexadecimal(&mut self) -> Parsed<u32> {
        let first = self.read();
        if let Some(high) = hex(first) {
            if let Some(low) = hex(self.read()) {
                return Ok(high * 16 + low);
            }
        } else if first == u32::from(b'{') && hex(self.peek()).is_some() {
            let mut value = 0;
            loop {
                let c = self.read();
                let Some(digit) = hex(c) else {
                    if c == u32::from(b'}') {
                        return Ok(value);
                    }
                    return Err(self.error("Unclosed hexadecimal escape sequence"));
                };
                value = value << 4 | digit;
                if value > super::set::MAX {
                    return Err(self.error("Hexadecimal codepoint is too big"));
                }
            }
        }
        Err(self.error("Illegal hexadecimal escape sequence"))
    }

    /// `\N{NAME}`: the names are not on board, so none is known.
    fn character_name(&mut self) -> Parsed<Escape> {
        if self.read() != u32::from(b'{') {
            return Err(self.error("Illegal character name escape sequence"));
        }
        let from = self.cursor;
        while self.read() != u32::from(b'}') {
            if self.cursor >= self.length {
                return Err(self.error("Unclosed character name escape sequence"));
            }
        }
        let name = text(&self.chars[from..self.cursor - 1]);
        Err(self.error(format!("Unknown character name [{name}]")))
    }

    /// `\pL` and `\p{…}` with the cursor before the name.
    pub(super) fn property(&mut self, single: bool, negated: bool) -> Parsed<Named> {
        self.next();
        let name = if single {
            let letter = self.at(self.cursor);
            self.read();
            text(&[letter])
        } else {
            let from = self.cursor;
            // Blanks count here, also with COMMENTS, except those before the name; a comment runs to the end of the line.
            let mut comment = false;
            while self.cursor < self.length && (comment || self.at(self.cursor) != u32::from(b'}')) {
                let c = self.at(self.cursor);
                comment =
                    (comment || c == u32::from(b'#')) && self.has(Flags::COMMENTS) && !self.is_line_end(c);
                self.cursor += 1;
            }
            self.cursor += 1;
            if self.cursor > self.length {
                return Err(self.error("Unclosed character family"));
            }
            if from + 1 >= self.cursor {
                return Err(self.error("Empty character family"));
            }
            text(&self.chars[from..self.cursor - 1])
        };
        let named = self.named_class(&name)?;
        Ok(if negated { Named { set: named.set.negate(), basic: false } } else { named })
    }

    fn named_class(&self, name: &str) -> Parsed<Named> {
        let ignore_case = self.has(Flags::CASE_INSENSITIVE);
        if let Some((key, value)) = name.split_once('=') {
            let key = key.to_lowercase();
            let found = match key.as_str() {
                "sc" | "script" => classes::script(value),
                "blk" | "block" => classes::block(value),
                "gc" | "general_category" => classes::property(value, ignore_case),
                _ => None,
            };
            return found.ok_or_else(|| {
                self.error(format!("Unknown Unicode property {{name=<{key}>, value=<{value}>}}"))
            });
        }
        let found = if let Some(block) = name.strip_prefix("In") {
            classes::block(block)
        } else if let Some(rest) = name.strip_prefix("Is") {
            classes::is_property(rest, ignore_case)
                .or_else(|| classes::property(rest, ignore_case))
                .or_else(|| classes::script(rest))
        } else {
            let unicode = self.has(Flags::UNICODE_CHARACTER_CLASS);
            unicode
                .then(|| classes::unicode_posix(name, ignore_case))
                .flatten()
                .or_else(|| classes::property(name, ignore_case))
        };
        found.ok_or_else(|| self.error(format!("Unknown character property name {{{name}}}")))
    }
}

fn hex(c: u32) -> Option<u32> {
    char::from_u32(c).and_then(|c| c.to_digit(16))
}

/// Characters of a pattern as text.
pub(super) fn text(chars: &[u32]) -> String {
    chars.iter().map(|&c| char::from_u32(c).unwrap_or('\u{FFFD}')).collect()
}
