//! `flume-env.sh` without a shell: simple assignments are read, everything else is named by its line.
//!
//! Understood are `NAME=value` and `export NAME=value`, several on a line too, with single and double quotes over several
//! lines, `$NAME`, `${NAME}`, `${NAME:-text}`, `${NAME-text}`, `${NAME:+text}`, remarks, and a backslash at the end of a line.

use std::collections::BTreeMap;

/// More than this is no such file, in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// How long a variable may grow (`A=$A$A` doubles it), in bytes.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// What a file has set, and what was not understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EnvFile {
    /// The variables after the file, those from before it too.
    pub(super) variables: BTreeMap<String, String>,
    /// Lines that were not understood: number, and what stands there.
    pub(super) unread: Vec<(u32, String)>,
}

/// Reads a file over these variables.
pub(super) fn read(text: &str, variables: BTreeMap<String, String>) -> EnvFile {
    let mut file = EnvFile { variables, unread: Vec::new() };
    let mut scanner = Scanner { text, at: 0, line: 1 };
    let mut inside = Vec::new();
    while let Some(statement) = scanner.statement(&file.variables) {
        let first = statement.words.first().map(|word| word.raw.as_str()).unwrap_or_default();
        if let Some(end) = inside.last() {
            if first == *end {
                inside.pop();
            } else if let Some(end) = block_end(first) {
                inside.push(end);
            }
            continue;
        }
        if let Some(end) = block_end(first).or_else(|| function_end(&statement)) {
            file.unread
                .push((statement.line, format!("{} (all up to its `{end}` is skipped)", statement.raw)));
            if statement.words.last().is_none_or(|word| word.raw != end) {
                inside.push(end);
            }
            continue;
        }
        if !file.assign(&statement) {
            file.unread.push((statement.line, statement.raw));
        }
    }
    file
}

/// What ends a compound command that begins with this word.
fn block_end(word: &str) -> Option<&'static str> {
    match word {
        "if" => Some("fi"),
        "for" | "while" | "until" => Some("done"),
        "case" => Some("esac"),
        "{" => Some("}"),
        "(" => Some(")"),
        _ => None,
    }
}

fn function_end(statement: &Statement) -> Option<&'static str> {
    let first = &statement.words.first()?.raw;
    (first == "function" || first.ends_with("()") || statement.words.get(1).is_some_and(|w| w.raw == "()"))
        .then_some("}")
}

impl EnvFile {
    /// Carries out a statement of assignments; false for any other.
    fn assign(&mut self, statement: &Statement) -> bool {
        let mut words = statement.words.as_slice();
        let exported = words.first().is_some_and(|word| word.raw == "export");
        if exported {
            words = &words[1..];
        }
        let understood = words.iter().all(|word| match &word.assignment {
            Some((_, value)) => value.is_some(),
            None => exported && is_name(&word.raw),
        });
        // What a shell would still do: `:` and `true` do nothing.
        if !understood {
            return matches!(words.first().map(|word| word.raw.as_str()), Some(":" | "true"));
        }
        for (name, value) in words.iter().filter_map(|word| word.assignment.as_ref()) {
            if let Some(value) = value {
                self.variables.insert(name.clone(), value.clone());
            }
        }
        true
    }
}

/// A word as it stands, and what it assigns: a value that could not be worked out is none.
struct Word {
    raw: String,
    assignment: Option<(String, Option<String>)>,
}

struct Statement {
    line: u32,
    raw: String,
    words: Vec<Word>,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += u32::from(c == '\n');
        Some(c)
    }

    /// The next statement, up to a newline or `;`.
    fn statement(&mut self, variables: &BTreeMap<String, String>) -> Option<Statement> {
        while self.peek().is_some_and(|c| c.is_whitespace() || c == ';' || c == '#') {
            if self.next() == Some('#') {
                self.skip_line();
            }
        }
        self.peek()?;
        let (line, start) = (self.line, self.at);
        let mut words: Vec<Word> = Vec::new();
        let mut end = self.at;
        while let Some(c) = self.peek() {
            match c {
                '\n' | ';' => break,
                '#' => {
                    self.skip_line();
                    break;
                }
                c if c.is_whitespace() => _ = self.next(),
                '\\' if self.text[self.at..].starts_with("\\\n") => _ = (self.next(), self.next()),
                _ => {
                    let word = self.word(variables, &words);
                    words.push(word);
                    end = self.at;
                }
            }
        }
        let raw: String = self.text[start..end].chars().take(120).collect();
        Some(Statement { line, raw, words })
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    /// A word with its quotes taken off and its variables put in. Earlier assignments of the same statement count.
    fn word(&mut self, variables: &BTreeMap<String, String>, before: &[Word]) -> Word {
        let start = self.at;
        let mut value = String::new();
        let mut known = true;
        let mut quoted = false;
        let look = |name: &str| {
            let own = before.iter().rev().filter_map(|word| word.assignment.as_ref());
            let own = own.filter(|(own, _)| own == name).find_map(|(_, value)| value.clone());
            own.or_else(|| variables.get(name).cloned())
        };
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.next();
                    quoted = !quoted;
                }
                '\'' if !quoted => {
                    self.next();
                    loop {
                        match self.next() {
                            Some('\'') => break,
                            Some(c) => value.push(c),
                            None => return self.cut(start),
                        }
                    }
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') => {}
                        Some(c) if quoted && !matches!(c, '"' | '\\' | '$' | '`') => {
                            value.push('\\');
                            value.push(c);
                        }
                        Some(c) => value.push(c),
                        None => break,
                    }
                }
                '`' => {
                    known = false;
                    self.next();
                    while self.next().is_some_and(|c| c != '`') {}
                }
                '$' => {
                    self.next();
                    match self.variable(&look) {
                        Some(text) => value.push_str(&text),
                        None => known = false,
                    }
                }
                c if !quoted && (c.is_whitespace() || c == ';') => break,
                '|' | '&' | '<' | '>' if !quoted => {
                    known = false;
                    self.next();
                }
                c => {
                    value.push(c);
                    self.next();
                }
            }
            if value.len() > MAX_VALUE_BYTES {
                value.clear();
                known = false;
            }
        }
        if quoted {
            return self.cut(start);
        }
        let raw = self.text[start..self.at].to_owned();
        let assignment = raw.split_once('=').filter(|(name, _)| is_name(name)).map(|(name, _)| {
            let value = value.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).map(str::to_owned);
            (name.to_owned(), value.filter(|_| known))
        });
        Word { raw, assignment }
    }

    /// A quote that never ends: the rest of the file is one word that says nothing.
    fn cut(&mut self, start: usize) -> Word {
        while self.next().is_some() {}
        Word { raw: self.text[start..].to_owned(), assignment: None }
    }

    /// What follows a `$`. None where only a shell knows.
    fn variable(&mut self, look: &impl Fn(&str) -> Option<String>) -> Option<String> {
        match self.peek() {
            Some('{') => {
                let start = self.at + 1;
                let mut depth = 0_u32;
                loop {
                    match self.next()? {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
                braces(&self.text[start..self.at - 1], look)
            }
            Some('(') => {
                let mut depth = 0_u32;
                loop {
                    match self.next()? {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        return None;
                    }
                }
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.next();
                }
                Some(look(&self.text[start..self.at]).unwrap_or_default())
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => None,
            _ => Some("$".to_owned()),
        }
    }
}

/// The inside of `${…}`.
fn braces(inside: &str, look: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inside.len());
    let (name, rest) = inside.split_at(end);
    let value = look(name);
    let plain = |text: &str| (!text.contains(['$', '`', '"', '\''])).then(|| text.to_owned());
    if !is_name(name) {
        return None;
    }
    match rest {
        "" => Some(value.unwrap_or_default()),
        _ if rest.starts_with(":-") => value.filter(|v| !v.is_empty()).or_else(|| plain(&rest[2..])),
        _ if rest.starts_with('-') => value.or_else(|| plain(&rest[1..])),
        _ if rest.starts_with(":+") => match value.is_some_and(|v| !v.is_empty()) {
            true => plain(&rest[2..]),
            false => Some(String::new()),
        },
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (Vec<String>, Vec<u32>) {
        let before = BTreeMap::from([("HOME".to_owned(), "/home/f".to_owned())]);
        let file = read(text, before);
        let set = file.variables.iter().filter(|(name, _)| *name != "HOME");
        (set.map(|(n, v)| format!("{n}={v}")).collect(), file.unread.iter().map(|(line, _)| *line).collect())
    }

    #[test]
    fn usual_files_are_read() {
        let text = "#!/bin/sh\n# export NO=1\nexport JAVA_HOME=/usr/lib/jvm # here\n\
            export JAVA_OPTS=\"-Xms100m -Xmx2g \\\n  -Dflume.monitoring.type=http\"\n\
            JAVA_OPTS=\"$JAVA_OPTS -Da='b c'\"; export JAVA_OPTS\n\
            FLUME_CLASSPATH='$HOME'/lib:${HOME}/x:${OTHER:-/o}:${HOME:+set}\nexport A=1 B=$A\n";
        let (set, unread) = shown(text);
        assert_eq!(
            set,
            [
                "A=1",
                "B=1",
                "FLUME_CLASSPATH=$HOME/lib:/home/f/x:/o:set",
                "JAVA_HOME=/usr/lib/jvm",
                "JAVA_OPTS=-Xms100m -Xmx2g   -Dflume.monitoring.type=http -Da='b c'",
            ]
        );
        assert_eq!(unread, [] as [u32; 0]);
    }

    #[test]
    fn what_only_a_shell_knows_is_told_by_line_and_sets_nothing() {
        let text = "A=$(hostname)\nB=`id`\nif [ -f x ]; then\n  C=1\nfi\nulimit -n 1000\n. other.sh\nD=4\n\
            f() {\n  E=5\n}\nF=6 | cat\n";
        assert_eq!(shown(text), (vec!["D=4".to_owned()], vec![1, 2, 3, 6, 7, 9, 12]));
    }

    #[test]
    fn open_quotes_and_doubling_end() {
        assert_eq!(shown("A=\"never\nB=2\n"), (vec![], vec![1]));
        let doubling = format!("A=xxxxxxxxxxxxxxxx\n{}", "A=$A$A$A$A\n".repeat(40));
        assert!(read(&doubling, BTreeMap::new()).variables["A"].len() <= MAX_VALUE_BYTES);
    }
}
