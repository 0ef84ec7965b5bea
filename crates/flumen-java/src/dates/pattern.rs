//! Compiles a pattern of `java.text.SimpleDateFormat` into a list of fields and literals.

/// Longest pattern in bytes; Java has no limit.
pub const MAX_PATTERN_BYTES: usize = 1000;

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A letter outside quotes that means nothing.
    #[error("illegal pattern character '{0}': put text into single quotes")]
    Letter(char),
    /// A quote that is not closed.
    #[error("unterminated quote: write '' for a quote itself")]
    Quote,
    /// `XXXX` or longer.
    #[error("invalid ISO 8601 format: length={0}, use X, XX or XXX")]
    IsoZone(usize),
    /// A pattern with nothing in it (Joda-Time).
    #[error("the pattern is empty")]
    Empty,
    /// Longer than [`MAX_PATTERN_BYTES`].
    #[error("the pattern is {0} bytes long, at most {MAX_PATTERN_BYTES} are allowed")]
    TooLong(usize),
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Text that stands for itself.
    Literal(String),
    /// A letter and how often it is repeated.
    Field(u8, usize),
}

const LETTERS: &[u8] = b"GyMdkHmsSEDFwWahKzZYuXL";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) items: Vec<Item>,
    /// A month is all there is: it takes the form that stands alone.
    pub(crate) month_alone: bool,
}

impl Pattern {
    pub(crate) fn compile(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong(pattern.len()));
        }
        let mut items: Vec<Item> = Vec::new();
        let mut quoted = false;
        // A letter run ends at anything else, also at an empty quote.
        let mut run_open = false;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                run_open = false;
                if chars.next_if_eq(&'\'').is_some() {
                    push_literal(&mut items, '\'');
                } else {
                    quoted = !quoted;
                }
            } else if quoted || !c.is_ascii_alphabetic() {
                run_open = false;
                push_literal(&mut items, c);
            } else if !LETTERS.contains(&(c as u8)) {
                return Err(PatternError::Letter(c));
            } else {
                match items.last_mut() {
                    Some(Item::Field(letter, count)) if run_open && *letter == c as u8 => *count += 1,
                    _ => items.push(Item::Field(c as u8, 1)),
                }
                run_open = true;
            }
        }
        if quoted {
            return Err(PatternError::Quote);
        }
        for item in &items {
            if let Item::Field(b'X', count @ 4..) = item {
                return Err(PatternError::IsoZone(*count));
            }
        }
        let mut fields = items.iter().filter(|item| matches!(item, Item::Field(..)));
        let month_alone = matches!((fields.next(), fields.next()), (Some(Item::Field(b'M', _)), None));
        Ok(Self { items, month_alone })
    }
}

fn push_literal(items: &mut Vec<Item>, c: char) {
    if let Some(Item::Literal(text)) = items.last_mut() {
        text.push(c);
    } else {
        items.push(Item::Literal(c.to_string()));
    }
}
