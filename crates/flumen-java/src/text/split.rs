//! `String.split` for the separators that Flume splits by.

/// What stands between the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator<'a> {
    /// This text.
    Text(&'a str),
    /// `\s+`: the ASCII blanks space, tab, LF, VT, FF and CR.
    Blanks,
    /// `\s*,\s*`
    CommaWithBlanks,
    /// `[,\s]+`
    CommasAndBlanks,
    /// `\R`: a line end, CR LF being one.
    LineEnd,
    /// `.`: any character but those that end a line.
    AnyChar,
    /// Nothing: between any two characters.
    Nothing,
}

/// `text.split(separator, limit)`: 0 drops empty parts at the end, a negative limit keeps them, a positive one is the most parts.
pub fn split<'a>(text: &'a str, separator: Separator<'_>, limit: i32) -> Vec<&'a str> {
    split_by(text, limit, |text, from| separator.find(text, from))
}

/// The same with any search: `find(text, from)` gives start and end of the next match at or after `from`, both on the boundary of a
/// character. A search that goes backwards ends the splitting.
pub fn split_by(
    text: &str,
    limit: i32,
    mut find: impl FnMut(&str, usize) -> Option<(usize, usize)>,
) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut part_start, mut from) = (0, 0);
    while from <= text.len() {
        if limit > 0 && parts.len() as i64 == i64::from(limit) - 1 {
            break;
        }
        let Some((start, end)) = find(text, from) else { break };
        if start < from || end < start || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
            break;
        }
        // A match of nothing at the start gives no empty part.
        if end > 0 || start > 0 {
            parts.push(&text[part_start..start]);
            part_start = end;
        }
        from = if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) };
    }
    if parts.is_empty() && part_start == 0 {
        return vec![text];
    }
    parts.push(&text[part_start..]);
    if limit == 0 {
        while parts.last().is_some_and(|p| p.is_empty()) {
            parts.pop();
        }
    }
    parts
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Separator<'_> {
    fn find(self, text: &str, from: usize) -> Option<(usize, usize)> {
        let rest = text.get(from..)?;
        let run = |is: fn(char) -> bool| {
            let start = rest.find(is)?;
            let tail = &rest[start..];
            Some((start, start + tail.find(|c| !is(c)).unwrap_or(tail.len())))
        };
        let (start, end) = match self {
            Self::Text(t) => {
                let start = rest.find(t)?;
                (start, start + t.len())
            }
            Self::Blanks => run(is_blank)?,
            Self::CommasAndBlanks => run(|c| c == ',' || is_blank(c))?,
            Self::CommaWithBlanks => {
                let comma = rest.find(',')?;
                let after = &rest[comma + 1..];
                (
                    rest[..comma].trim_end_matches(is_blank).len(),
                    rest.len() - after.trim_start_matches(is_blank).len(),
                )
            }
            Self::LineEnd => {
                let start = rest.find(|c| ends_line(c) || matches!(c, '\u{B}' | '\u{C}'))?;
                let tail = &rest[start..];
                let first = tail.chars().next().map_or(0, char::len_utf8);
                (start, start + if tail.starts_with("\r\n") { 2 } else { first })
            }
            Self::AnyChar => {
                let (start, c) = rest.char_indices().find(|(_, c)| !ends_line(*c))?;
                (start, start + c.len_utf8())
            }
            Self::Nothing => (0, 0),
        };
        Some((from + start, from + end))
    }
}
