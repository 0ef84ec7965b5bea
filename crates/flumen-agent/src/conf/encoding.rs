//! Tells where a file in UTF-8 is read as ISO-8859-1, as Java reads it, and means something else by that.

use flumen_core::config::{Place, Problem, Severity};
use flumen_java::properties::Pair;
use std::sync::Arc;

/// The `-D` setting that reads files and URIs in UTF-8.
pub(super) const SETTING: &str = "flumen.conf.encoding";
/// Lines that are told one by one.
const MAX_TOLD: usize = 20;
/// Characters that are written out as escapes.
const MAX_ESCAPES: usize = 8;

/// Warnings for keys and values whose characters, taken as bytes, are UTF-8. Remarks may hold what they like.
pub(super) fn misread(pairs: &[Pair], file: &Arc<str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut more = 0;
    for pair in pairs {
        let Some(meant) = meant(&pair.key).or_else(|| meant(&pair.value)) else { continue };
        if problems.len() == MAX_TOLD {
            more += 1;
            continue;
        }
        let foreign: Vec<char> = meant.chars().filter(|c| !c.is_ascii()).collect();
        let escapes: String = foreign.iter().take(MAX_ESCAPES).map(|c| escaped(*c)).collect();
        let dots = if foreign.len() > MAX_ESCAPES { "…" } else { "" };
        let what = "has UTF-8 text, which is read as ISO-8859-1, as in Java, and means other characters";
        // What stands there may be a password: no character of it is repeated.
        let cure = if super::lookups::looks_secret(&pair.key) {
            format!("write its characters as \\uXXXX, or start with -D{SETTING}=UTF-8")
        } else {
            format!("write {escapes}{dots}, or start with -D{SETTING}=UTF-8")
        };
        let at = Place { file: file.clone(), line: pair.line };
        problems.push(Problem::new(Severity::Warning, pair.key.trim(), Some(at), what).with_cure(cure));
    }
    if more > 0 {
        let what = format!("{more} more lines have UTF-8 text that is read as ISO-8859-1");
        problems.push(Problem::new(Severity::Warning, file.to_string(), None, what));
    }
    problems
}

/// The text that was meant, if this one is UTF-8 read as ISO-8859-1.
fn meant(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<_>>()?;
    String::from_utf8(bytes).ok()
}

fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::conf::{ConfigText, load};
    use flumen_java::properties::Encoding;

    fn told(text: &str) -> Vec<String> {
        let text = ConfigText { name: "f".into(), bytes: text.into(), encoding: Encoding::Latin1 };
        load(&[text]).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn utf_8_in_a_value_is_told_with_its_escapes_and_in_a_remark_is_not() {
        assert_eq!(told("# 日志\na.x = plain\n"), Vec::<String>::new());
        assert_eq!(
            told("a.x = /日志/a\n"),
            [
                "f:1: a.x: has UTF-8 text, which is read as ISO-8859-1, as in Java, and means other characters; write \\u65e5\\u5fd7, or start with -Dflumen.conf.encoding=UTF-8"
            ]
        );
        assert!(!told("a.password = é\n")[0].contains("\\u00e9"));
    }

    #[test]
    fn latin_1_and_escapes_are_left_alone() {
        let text = ConfigText {
            name: "f".into(),
            bytes: b"a.x = stra\xdfe\na.y = \\u00e9\n".to_vec(),
            encoding: Encoding::Latin1,
        };
        let (entries, problems) = load(&[text]);
        assert_eq!((entries.list[0].value.as_str(), entries.list[1].value.as_str()), ("straße", "é"));
        assert_eq!(problems, []);
    }

    #[test]
    fn many_such_lines_are_counted() {
        let text: String = (0..50).map(|i| format!("a.x{i} = 日\n")).collect();
        let told = told(&text);
        assert_eq!(told.len(), 21);
        assert_eq!(told[20], "f: 30 more lines have UTF-8 text that is read as ISO-8859-1");
    }
}
