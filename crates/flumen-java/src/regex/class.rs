//! Character classes `[…]` with unions, intersections and negation, in the order in which Java takes them.

use super::Flags;
use super::classes::Named;
use super::escape::Escape;
use super::parse::{Parsed, Parser, ascii, is_supplementary};
use super::set::CharSet;
use super::unicode::range_ignoring_case;

/// A class under construction. Java collects low single characters in one shared bit set, which an intersection may
/// already hold when more characters are added: so the expression is kept and worked out at the end.
#[derive(Clone)]
enum Expr {
    Low,
    Set(CharSet, bool),
    Union(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
}

impl Expr {
    fn value(&self, low: &CharSet) -> (CharSet, bool) {
        match self {
            Expr::Low => (low.clone(), true),
            Expr::Set(set, basic) => (set.clone(), *basic),
            Expr::Union(a, b) => {
                let ((a, x), (b, y)) = (a.value(low), b.value(low));
                (a.union(&b), x && y)
            }
            Expr::And(a, b) => {
                let ((a, x), (b, y)) = (a.value(low), b.value(low));
                (a.intersect(&b), x && y)
            }
        }
    }

    /// The union. Plain sets join at once, so that long classes do not become deep expressions.
    fn or(left: Option<Expr>, right: Expr) -> Expr {
        match (left, right) {
            (None, right) => right,
            (Some(Expr::Set(a, x)), Expr::Set(b, y)) => Expr::Set(a.union(&b), x && y),
            (Some(Expr::Union(first, second)), right @ Expr::Set(..)) if matches!(*second, Expr::Set(..)) => {
                Expr::Union(first, Box::new(Expr::or(Some(*second), right)))
            }
            (Some(left), right) => Expr::Union(Box::new(left), Box::new(right)),
        }
    }
}

impl From<Named> for Expr {
    fn from(named: Named) -> Expr {
        Expr::Set(named.set, named.basic)
    }
}

/// One part of a class: a low character for the shared bits, or a set of its own.
enum Part {
    Low(CharSet),
    Own(Named),
}

impl Parser {
    /// A class with the cursor on the `[` or, on the right of `&&`, before its first character. `consume`: also the `]`.
    pub(super) fn class(&mut self, consume: bool) -> Parsed<Named> {
        self.enter()?;
        let (mut previous, mut current): (Option<Expr>, Option<Expr>) = (None, None);
        let mut low: Vec<(u32, u32)> = Vec::new();
        let (mut negated, mut has_low) = (false, false);
        let mut operations = 0u32;
        let mut c = self.next();
        if c == u32::from(b'^') && self.at(self.cursor.wrapping_sub(1)) == u32::from(b'[') {
            c = self.next();
            negated = true;
        }
        loop {
            match ascii(c) {
                b'[' => {
                    let inner: Expr = self.class(true)?.into();
                    current = Some(inner.clone());
                    previous = Some(Expr::or(previous, inner));
                    c = self.peek();
                    continue;
                }
                b'&' => {
                    c = self.next();
                    if c == u32::from(b'&') {
                        operations += 1;
                        if operations > 1000 {
                            return Err(self.error("the class has more than 1000 intersections"));
                        }
                        let right = self.right_side()?;
                        if has_low {
                            if previous.is_none() {
                                current = Some(Expr::Low);
                            }
                            previous = Some(Expr::or(previous, Expr::Low));
                            has_low = false;
                        }
                        if right.is_some() {
                            current = right.clone();
                        }
                        previous = Some(match (previous, right, current.clone()) {
                            (None, None, _) => return Err(self.error("Bad class syntax")),
                            (None, Some(right), _) => right,
                            (Some(left), _, Some(right)) => Expr::And(Box::new(left), Box::new(right)),
                            (Some(left), ..) => left,
                        });
                        c = self.peek();
                        continue;
                    }
                    self.unread();
                }
                0 if self.cursor >= self.length => return Err(self.error("Unclosed character class")),
                b']' if previous.is_some() || has_low => {
                    if consume {
                        self.next();
                    }
                    break;
                }
                _ => {}
            }
            match self.class_part()? {
                Part::Low(set) => {
                    low.extend(set.ranges());
                    has_low = true;
                    current = None;
                }
                Part::Own(named) => {
                    let part: Expr = named.into();
                    current = Some(part.clone());
                    previous = Some(Expr::or(previous, part));
                }
            }
            c = self.peek();
        }
        self.depth -= 1;
        if has_low {
            previous = Some(Expr::or(previous, Expr::Low));
        }
        let (set, basic) = match previous {
            Some(expr) => expr.value(&CharSet::new(low)),
            None => (CharSet::new(low), true),
        };
        Ok(if negated { Named { set: set.negate(), basic: false } } else { Named { set, basic } })
    }

    /// What stands between `&&` and the next `&` or `]`, with the cursor on the second `&`.
    fn right_side(&mut self) -> Parsed<Option<Expr>> {
        let mut right: Option<Expr> = None;
        let mut c = self.next();
        while c != u32::from(b']') && c != u32::from(b'&') {
            if c != u32::from(b'[') {
                self.unread();
            }
            let part: Expr = self.class(c == u32::from(b'['))?.into();
            right = Some(Expr::or(right, part));
            c = self.peek();
        }
        Ok(right)
    }

    /// One character, range or escape of a class.
    fn class_part(&mut self) -> Parsed<Part> {
        let mut c = self.peek();
        if c == u32::from(b'\\') {
            self.cursor += 1;
            let letter = self.at(self.cursor);
            if matches!(ascii(letter), b'p' | b'P') {
                let single = self.next() != u32::from(b'{');
                if single {
                    self.unread();
                }
                return Ok(Part::Own(self.property(single, letter == u32::from(b'P'))?));
            }
            let range = self.at(self.cursor + 1) == u32::from(b'-');
            self.unread();
            match self.escape(true, true, range)? {
                Escape::Char(value) => c = value,
                Escape::Class(named) => return Ok(Part::Own(named)),
                Escape::Node(_) | Escape::Unbuilt => {
                    return Err(self.error("Illegal/unsupported escape sequence"));
                }
            }
        } else {
            self.next();
        }
        if self.peek() == u32::from(b'-') {
            let end = self.at(self.cursor + 1);
            if end != u32::from(b'[') && end != u32::from(b']') {
                self.next();
                let last = if self.peek() == u32::from(b'\\') {
                    match self.escape(true, false, true)? {
                        Escape::Char(value) => Some(value),
                        _ => None,
                    }
                } else {
                    let last = self.at(self.cursor);
                    self.next();
                    Some(last)
                };
                return match last {
                    Some(last) if last >= c => Ok(Part::Own(self.range(c, last))),
                    _ => Err(self.error("Illegal character range")),
                };
            }
        }
        Ok(self.low_or_single(c))
    }

    fn range(&self, from: u32, to: u32) -> Named {
        if !self.has(Flags::CASE_INSENSITIVE) {
            let basic = to < 0xD800 || (from > 0xDFFF && to < 0x1_0000);
            return Named { set: CharSet::new(vec![(from, to)]), basic };
        }
        if self.has(Flags::UNICODE_CASE) {
            return Named { set: range_ignoring_case(from, to), basic: false };
        }
        let inside = |c: u8| (from..=to).contains(&u32::from(c));
        let letters = (b'A'..=b'Z').chain(b'a'..=b'z').filter(|&c| inside(c) || inside(c ^ 32));
        let mut ranges: Vec<(u32, u32)> = letters.map(|c| (u32::from(c), u32::from(c))).collect();
        ranges.push((from, to));
        Named { set: CharSet::new(ranges), basic: false }
    }

    /// Characters below 256 go to the shared bits, except those whose other case lies above.
    fn low_or_single(&self, c: u32) -> Part {
        let ignore = self.has(Flags::CASE_INSENSITIVE) && self.has(Flags::UNICODE_CASE);
        let special = matches!(c, 0xFF | 0xB5 | 0x49 | 0x69 | 0x53 | 0x73 | 0x4B | 0x6B | 0xC5 | 0xE5);
        let named = self.single(c);
        if c < 256 && !(ignore && special) {
            return Part::Low(named.set);
        }
        Part::Own(Named { basic: named.basic && !is_supplementary(c), set: named.set })
    }
}
