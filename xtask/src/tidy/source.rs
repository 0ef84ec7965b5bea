//! Rust source as tidy sees it: without comments and strings, with its functions and its test code marked.

use std::ops::Range;

/// A file of Rust source, looked at by line and by byte.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    /// `text` with the insides of comments, strings and characters blanked; byte for byte as long.
    pub(crate) code: String,
}

/// A function with a body: from its attributes to its closing brace.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// First line of the signature, from 1.
    pub(crate) line: usize,
    /// Lines from the signature to the closing brace.
    pub(crate) lines: usize,
    /// Bytes from the signature to the closing brace.
    pub(crate) span: Range<usize>,
    /// The attributes above it, as written.
    pub(crate) attributes: &'a str,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, code: blank(text) }
    }

    /// The line of a byte, from 1.
    pub(crate) fn line_at(&self, byte: usize) -> usize {
        self.text.as_bytes()[..byte].iter().filter(|&&b| b == b'\n').count() + 1
    }

    /// Where `word` stands in the code with no letter, digit or `_` around it.
    pub(crate) fn words<'s>(&'s self, word: &'s str) -> impl Iterator<Item = usize> + 's {
        whole_words(&self.code, word)
    }

    pub(crate) fn functions(&self) -> Vec<Function<'a>> {
        self.words("fn").filter_map(|at| self.function_at(at)).collect()
    }

    fn function_at(&self, at: usize) -> Option<Function<'a>> {
        let after = &self.code[at + 2..];
        let name_at = at + 2 + (after.len() - after.trim_start().len());
        let name_len = self.code[name_at..].find(|c: char| !is_word(c))?;
        if name_len == 0 {
            return None; // a type: `fn(u32) -> u32`
        }
        let open = self.body_at(name_at)?;
        let end = closing_brace(&self.code, open)?;
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let attributes = attributes_above(&self.text[..start]);
        let line = self.line_at(at);
        let (name, span) = (&self.text[name_at..name_at + name_len], start..end + 1);
        Some(Function { name, line, lines: self.line_at(end) - line + 1, span, attributes })
    }

    /// The opening brace of the function whose signature goes on at `from`; none for a declaration without a body.
    fn body_at(&self, from: usize) -> Option<usize> {
        let mut depth = 0_i32;
        for (offset, byte) in self.code[from..].bytes().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'{' if depth == 0 => return Some(from + offset),
                b';' if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// The bytes that only tests use: modules under `#[cfg(test)]`, or the whole file.
    pub(crate) fn test_code(&self, path: &str) -> Vec<Range<usize>> {
        if is_test_file(path) {
            return std::iter::once(0..self.text.len()).collect();
        }
        let mut spans = Vec::new();
        for (at, mark) in self.code.match_indices("#[cfg(test)]") {
            let after = at + mark.len();
            let Some(stop) = self.code[after..].find(['{', ';']) else { continue };
            if self.code.as_bytes()[after + stop] == b'{'
                && let Some(end) = closing_brace(&self.code, after + stop)
            {
                spans.push(at..end + 1);
            }
        }
        spans
    }
}

/// Whether all of a file is test code.
pub(crate) fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("tests/")
        || path.contains("/tests/")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

/// Where `word` stands in `text` with no letter, digit or `_` around it.
pub(crate) fn whole_words<'s>(text: &'s str, word: &'s str) -> impl Iterator<Item = usize> + 's {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !text[..at].chars().next_back().is_some_and(is_word)
            && !text[at + word.len()..].chars().next().is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn closing_brace(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (offset, byte) in code[open..].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(open + offset),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn attributes_above(before: &str) -> &str {
    let mut start = before.len();
    for line in before.lines().rev() {
        let trimmed = line.trim_start();
        if !(trimmed.starts_with('#') || trimmed.starts_with("//")) {
            break;
        }
        start -= (line.len() + 1).min(start);
    }
    &before[start..]
}

/// Blanks comments, strings and characters, keeping every newline where it is.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let (end, keep) = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => (line_end(bytes, at), 0),
            b'/' if bytes.get(at + 1) == Some(&b'*') => (block_comment_end(bytes, at), 0),
            b'r' if !follows_word(bytes, at) || bytes[at - 1] == b'b' => match raw_string_end(bytes, at) {
                Some(end) => (end, 1),
                None => (at + 1, usize::MAX),
            },
            b'"' => (quoted_end(bytes, at, b'"'), 1),
            b'\'' => match character_end(text, at) {
                Some(end) => (end, 1),
                None => (at + 1, usize::MAX),
            },
            _ => (at + 1, usize::MAX),
        };
        if keep != usize::MAX {
            for byte in &mut out[at + keep..end.saturating_sub(keep).max(at + keep)] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |offset| at + offset)
}

fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut here) = (0_u32, at);
    while here + 1 < bytes.len() {
        match &bytes[here..here + 2] {
            b"/*" => (depth, here) = (depth + 1, here + 2),
            b"*/" if depth == 1 => return here + 2,
            b"*/" => (depth, here) = (depth - 1, here + 2),
            _ => here += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"` or `r#"…"#` at `at`; none where it is only a name that begins with an r.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&b| b == b'#').count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = at + 2 + hashes;
    let found = bytes[body..].windows(close.len()).position(|window| window == close);
    Some(found.map_or(bytes.len(), |offset| body + offset + close.len()))
}

fn quoted_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut here = at + 1;
    while here < bytes.len() {
        match bytes[here] {
            b'\\' => here += 2,
            byte if byte == quote => return here + 1,
            _ => here += 1,
        }
    }
    bytes.len()
}

/// The end of a character at `at`; none where the quote begins a lifetime.
fn character_end(text: &str, at: usize) -> Option<usize> {
    let mut rest = text[at + 1..].chars();
    let first = rest.next()?;
    if first == '\\' {
        return Some(quoted_end(text.as_bytes(), at, b'\''));
    }
    (rest.next()? == '\'').then_some(at + 1 + first.len_utf8() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_blanked_and_lifetimes_are_not() {
        let text = "let a = \"fn {\"; // fn {\nlet b = '{'; let c: &'a str = r#\"} \" \"#; /* { /* } */ */ let d = '\\'';";
        let source = Source::new(text);
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.code.lines().count(), 2);
        assert!(!source.code.contains(['{', '}']), "{}", source.code);
        assert!(source.code.contains("&'a str") && source.code.contains("let d"), "{}", source.code);
    }

    #[test]
    fn functions_have_name_length_and_attributes() {
        let text = "#[test]\n#[cfg(x)]\nfn one(a: [u8; 4]) {\n    if a { }\n}\ntype F = fn(u32);\ntrait T { fn two(); }\n";
        let source = Source::new(text);
        let functions = source.functions();
        assert_eq!(functions.len(), 1);
        assert_eq!((functions[0].name, functions[0].line, functions[0].lines), ("one", 3, 3));
        assert_eq!(functions[0].attributes, "#[test]\n#[cfg(x)]\n");
    }

    #[test]
    fn test_code_is_the_test_module_or_the_whole_file() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let source = Source::new(text);
        let spans = source.test_code("crates/x/src/lib.rs");
        assert_eq!(spans.len(), 1);
        assert!(text[spans[0].clone()].contains("fn b") && !text[spans[0].clone()].contains("fn c"));
        assert_eq!(source.test_code("crates/x/tests/it.rs").first(), Some(&(0..text.len())));
        assert!(
            Source::new("#[cfg(test)]\nmod tests;\nfn x() {}").test_code("crates/x/src/lib.rs").is_empty()
        );
    }
}
