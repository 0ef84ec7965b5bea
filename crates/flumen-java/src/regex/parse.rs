//! Java's pattern syntax to a tree: sequences, atoms, quantifiers. Groups, classes and escapes are in the files beside.

use super::Flags;
use super::ast::{Alternatives, Assert, Kind, NO_LIMIT, Node, Tree};
use super::error::PatternError;
use super::set::CharSet;
use super::unicode::{all, fold, folding_to, lower, upper};

/// Longest pattern in characters.
pub(super) const MAX_LENGTH: usize = 64 * 1024;
/// Groups and classes within each other.
const MAX_DEPTH: u32 = 200;
/// Largest number of groups.
const MAX_GROUPS: u32 = 2000;

/// Reads a pattern. Characters past the end read as 0, as in Java, whose two terminating zeros do the same.
pub(super) struct Parser {
    pub(super) chars: Vec<u32>,
    pub(super) length: usize,
    pub(super) cursor: usize,
    pub(super) flags: Flags,
    pub(super) groups: u32,
    pub(super) names: Vec<(String, u32)>,
    pub(super) supplementary: bool,
    pub(super) history: bool,
    pub(super) depth: u32,
}

pub(super) type Parsed<T> = Result<T, PatternError>;

/// Parses `pattern`.
pub(super) fn parse(pattern: &str, flags: Flags) -> Parsed<Tree> {
    let chars: Vec<u32> = pattern.chars().map(u32::from).collect();
    if chars.len() > MAX_LENGTH {
        let description = format!("the pattern has more than {MAX_LENGTH} characters");
        return Err(PatternError { description, index: MAX_LENGTH as i64 });
    }
    let supplementary = chars.iter().any(|&c| is_supplementary(c));
    let literal = flags.has(Flags::LITERAL);
    let flags = if flags.has(Flags::UNICODE_CHARACTER_CLASS) { flags | Flags::UNICODE_CASE } else { flags };
    let chars = if literal { chars } else { super::quote::write_out(&chars) };
    let length = chars.len();
    let mut parser = Parser {
        chars,
        length,
        cursor: 0,
        flags,
        groups: 0,
        names: Vec::new(),
        supplementary,
        history: false,
        depth: 0,
    };
    let body = if literal {
        vec![vec![parser.slice(&parser.chars)]]
    } else {
        let body = parser.alternatives()?;
        if parser.cursor != parser.length {
            let unmatched = parser.peek() == u32::from(b')');
            return Err(parser.error(if unmatched {
                "Unmatched closing ')'"
            } else {
                "Unexpected internal error"
            }));
        }
        body
    };
    let Parser { groups, names, supplementary, history, .. } = parser;
    Ok(Tree { body, groups, names, supplementary, history })
}

/// Outside the basic plane, or half a surrogate pair.
pub(super) fn is_supplementary(c: u32) -> bool {
    c >= 0x1_0000 || (0xD800..=0xDFFF).contains(&c)
}

/// The character `c` if it is ASCII, else a letter that no syntax uses.
pub(super) fn ascii(c: u32) -> u8 {
    u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(0x7F)
}

fn is_space(c: u32) -> bool {
    matches!(c, 9..=13 | 32)
}

impl Parser {
    pub(super) fn has(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }

    pub(super) fn error(&self, description: impl Into<String>) -> PatternError {
        PatternError { description: description.into(), index: self.cursor as i64 - 1 }
    }

    pub(super) fn at(&self, index: usize) -> u32 {
        self.chars.get(index).copied().unwrap_or(0)
    }

    /// The character at the cursor, blanks and comments passed over in COMMENTS mode.
    pub(super) fn peek(&mut self) -> u32 {
        let mut c = self.at(self.cursor);
        if self.has(Flags::COMMENTS) {
            while is_space(c) || c == u32::from(b'#') {
                let comment = c == u32::from(b'#');
                self.cursor += 1;
                c = self.at(self.cursor);
                while comment && c != 0 && !self.is_line_end(c) {
                    self.cursor += 1;
                    c = self.at(self.cursor);
                }
            }
        }
        c
    }

    /// Moves on and peeks.
    pub(super) fn next(&mut self) -> u32 {
        self.cursor += 1;
        self.peek()
    }

    /// The character at the cursor, which moves behind it.
    pub(super) fn read(&mut self) -> u32 {
        let mut c = self.take();
        if self.has(Flags::COMMENTS) {
            while is_space(c) || c == u32::from(b'#') {
                let comment = c == u32::from(b'#');
                c = self.take();
                while comment && c != 0 && !self.is_line_end(c) {
                    c = self.take();
                }
            }
        }
        c
    }

    fn take(&mut self) -> u32 {
        let c = self.at(self.cursor);
        self.cursor += 1;
        c
    }

    /// The character after the cursor, which moves behind that.
    pub(super) fn skip(&mut self) -> u32 {
        let c = self.at(self.cursor + 1);
        self.cursor += 2;
        c
    }

    pub(super) fn unread(&mut self) {
        self.cursor -= 1;
    }

    pub(super) fn is_line_end(&self, c: u32) -> bool {
        c == 10 || (!self.has(Flags::UNIX_LINES) && matches!(c, 13 | 0x85 | 0x2028 | 0x2029))
    }

    /// One level deeper; Java would overflow its stack some time later.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("groups or classes are nested more than {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    pub(super) fn new_group(&mut self) -> Parsed<u32> {
        self.groups += 1;
        if self.groups > MAX_GROUPS {
            return Err(self.error(format!("the pattern has more than {MAX_GROUPS} groups")));
        }
        Ok(self.groups)
    }

    /// Alternatives up to a `)` or the end.
    pub(super) fn alternatives(&mut self) -> Parsed<Alternatives> {
        let mut out = Vec::new();
        loop {
            out.push(self.sequence()?);
            if self.peek() != u32::from(b'|') {
                return Ok(out);
            }
            self.next();
        }
    }

    fn sequence(&mut self) -> Parsed<Vec<Node>> {
        let mut out = Vec::new();
        loop {
            let c = self.peek();
            let node = match ascii(c) {
                b'(' => {
                    out.extend(self.group()?);
                    continue;
                }
                b'[' => {
                    let class = self.class(true)?;
                    self.set_node(class)
                }
                b'\\' => {
                    self.cursor += 1;
                    if matches!(ascii(self.at(self.cursor)), b'p' | b'P') {
                        self.property_node()?
                    } else {
                        self.unread();
                        self.atom()?
                    }
                }
                b'^' => {
                    self.next();
                    Node::Assert(if self.has(Flags::MULTILINE) {
                        Assert::LineBegin { unix: self.has(Flags::UNIX_LINES) }
                    } else {
                        Assert::Begin
                    })
                }
                b'$' => {
                    self.next();
                    Node::Assert(self.dollar(self.has(Flags::MULTILINE)))
                }
                b'.' => {
                    self.next();
                    Node::Set(self.dot())
                }
                b'|' | b')' => return Ok(out),
                b'?' | b'*' | b'+' => {
                    self.next();
                    let sign = char::from(ascii(c));
                    return Err(self.error(format!("Dangling meta character '{sign}'")));
                }
                0 if self.cursor >= self.length => return Ok(out),
                _ => self.atom()?,
            };
            out.push(self.quantified(node)?);
        }
    }

    pub(super) fn dollar(&self, multiline: bool) -> Assert {
        Assert::Dollar { unix: self.has(Flags::UNIX_LINES), multiline }
    }

    fn dot(&self) -> CharSet {
        if self.has(Flags::DOTALL) {
            all()
        } else if self.has(Flags::UNIX_LINES) {
            CharSet::one(10).negate()
        } else {
            CharSet::new(vec![(10, 10), (13, 13), (0x85, 0x85), (0x2028, 0x2029)]).negate()
        }
    }

    /// A class as a node; one that reaches beyond the basic plane changes where searches begin.
    pub(super) fn set_node(&mut self, class: super::classes::Named) -> Node {
        self.supplementary |= !class.basic;
        Node::Set(class.set)
    }

    /// `\p…` with the cursor on the `p`.
    fn property_node(&mut self) -> Parsed<Node> {
        let negated = self.at(self.cursor) == u32::from(b'P');
        let single = self.next() != u32::from(b'{');
        if single {
            self.unread();
        }
        let class = self.property(single, negated)?;
        Ok(self.set_node(class))
    }

    /// Literal characters up to something special, or one escape that is no character.
    fn atom(&mut self) -> Parsed<Node> {
        let mut buffer = Vec::new();
        let mut previous = None;
        let mut c = self.peek();
        loop {
            match ascii(c) {
                b'*' | b'+' | b'?' | b'{' => {
                    // The quantifier belongs to the last character only.
                    if let (true, Some(before)) = (buffer.len() > 1, previous) {
                        self.cursor = before;
                        buffer.pop();
                    }
                    break;
                }
                b'$' | b'.' | b'^' | b'(' | b'[' | b'|' | b')' => break,
                b'\\' => {
                    self.cursor += 1;
                    if matches!(ascii(self.at(self.cursor)), b'p' | b'P') {
                        if buffer.is_empty() {
                            return self.property_node();
                        }
                        self.unread();
                        break;
                    }
                    self.unread();
                    previous = Some(self.cursor);
                    match self.escape(false, buffer.is_empty(), false)? {
                        super::escape::Escape::Char(value) => {
                            buffer.push(value);
                            self.supplementary |= is_supplementary(value);
                            c = self.peek();
                        }
                        super::escape::Escape::Node(node) => return Ok(node),
                        super::escape::Escape::Class(class) => return Ok(self.set_node(class)),
                        super::escape::Escape::Unbuilt => {
                            self.cursor = previous.unwrap_or(self.cursor);
                            break;
                        }
                    }
                }
                0 if self.cursor >= self.length => break,
                _ => {
                    previous = Some(self.cursor);
                    buffer.push(c);
                    self.supplementary |= is_supplementary(c);
                    c = self.next();
                }
            }
        }
        if let [one] = buffer[..] {
            let class = self.single(one);
            return Ok(self.set_node(class));
        }
        Ok(self.slice(&buffer))
    }

    /// One literal character with the flags that hold here.
    pub(super) fn single(&self, c: u32) -> super::classes::Named {
        if self.has(Flags::CASE_INSENSITIVE) {
            if self.has(Flags::UNICODE_CASE) {
                let up = upper(c);
                let low = lower(up);
                if up != low {
                    return super::classes::Named { set: folding_to(low), basic: false };
                }
            } else if ascii(c).is_ascii_alphabetic() {
                return super::classes::Named {
                    set: CharSet::new(vec![(c, c), (c ^ 32, c ^ 32)]),
                    basic: true,
                };
            }
        }
        super::classes::Named { set: CharSet::one(c), basic: !is_supplementary(c) }
    }

    /// Several literal characters; Java compares them a little differently from single ones.
    pub(super) fn slice(&self, chars: &[u32]) -> Node {
        let ignore_case = self.has(Flags::CASE_INSENSITIVE);
        let unicode = ignore_case && self.has(Flags::UNICODE_CASE);
        let one = |&c: &u32| match () {
            () if unicode => folding_to(fold(c)),
            () if ignore_case && ascii(c).is_ascii_alphabetic() => {
                CharSet::new(vec![(c, c), (c ^ 32, c ^ 32)])
            }
            () => CharSet::one(c),
        };
        Node::Slice(chars.iter().map(one).collect())
    }

    /// The node with the quantifier that follows, if one does.
    pub(super) fn quantified(&mut self, node: Node) -> Parsed<Node> {
        let mut counted = false;
        let (min, max) = match ascii(self.peek()) {
            b'?' => {
                let kind = self.quantifier_kind();
                return Ok(Node::Optional { body: Box::new(node), kind });
            }
            b'*' => (0, NO_LIMIT),
            b'+' => (1, NO_LIMIT),
            b'{' => {
                let (min, max) = self.counts()?;
                self.unread();
                counted = max.is_some();
                (min, max.unwrap_or(NO_LIMIT))
            }
            _ => return Ok(node),
        };
        let kind = self.quantifier_kind();
        if (min, max) == (0, 1) {
            return Ok(Node::Optional { body: Box::new(node), kind });
        }
        Ok(Node::Repeat { body: Box::new(node), min, max, kind, counted })
    }

    /// With the cursor on the last character of a quantifier.
    fn quantifier_kind(&mut self) -> Kind {
        let kind = match ascii(self.next()) {
            b'?' => Kind::Lazy,
            b'+' => Kind::Possessive,
            _ => return Kind::Greedy,
        };
        self.next();
        kind
    }

    /// `{m}`, `{m,}`, `{m,n}` with the cursor on the brace.
    fn counts(&mut self) -> Parsed<(u32, Option<u32>)> {
        let mut c = self.skip();
        if !ascii(c).is_ascii_digit() {
            return Err(self.error("Illegal repetition"));
        }
        let mut min = 0;
        while ascii(c).is_ascii_digit() {
            min = self.add_digit(min, c)?;
            c = self.read();
        }
        let mut max = Some(min);
        if c == u32::from(b',') {
            c = self.read();
            max = None;
            if c != u32::from(b'}') {
                let mut written = 0;
                while ascii(c).is_ascii_digit() {
                    written = self.add_digit(written, c)?;
                    c = self.read();
                }
                max = Some(written);
            }
        }
        if c != u32::from(b'}') {
            return Err(self.error("Unclosed counted closure"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error("Illegal repetition range"));
        }
        Ok((min, max))
    }

    fn add_digit(&self, number: u32, digit: u32) -> Parsed<u32> {
        let sum = u64::from(number) * 10 + u64::from(digit - 48);
        u32::try_from(sum)
            .ok()
            .filter(|&n| n <= NO_LIMIT)
            .ok_or_else(|| self.error("Illegal repetition range"))
    }
}
