//! Every regular expression that a JDK 17 answered in `tests/parity/golden/regex` gets the same answer here.

#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use flumen_java::regex::{Captures, Flags, MatchError, Pattern};
use serde_json::{Value, json};

/// Cases that differ, each with the reason; `docs/differences.md` has the rows.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("canon-", "CANON_EQ is not offered: no setting of Flume can ask for it"),
    ("groupsyntax-312", "(?c) is refused"),
    ("groupsyntax-313", "(?c) is refused"),
    ("groupsyntax-315", "(?c) is refused"),
    ("groupsyntax-318", "(?c) is refused"),
    ("groupsyntax-319", "(?c) is refused"),
    ("literal-078", "names of characters are not on board"),
    ("literal-079", "names of characters are not on board"),
];

/// Areas in which nothing may differ: patterns as users write them.
const EXACT: [&str; 3] = ["typical", "filename", "hbase"];

fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/parity/golden/regex").join(name);
    let bytes = std::fs::read(&path).unwrap();
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text
}

/// Flags by letter; `None` for CANON_EQ, which is not offered.
fn flags(letters: &str) -> Option<Flags> {
    letters.chars().try_fold(Flags::NONE, |all, letter| {
        Some(
            all | match letter {
                'i' => Flags::CASE_INSENSITIVE,
                'u' => Flags::UNICODE_CASE,
                's' => Flags::DOTALL,
                'm' => Flags::MULTILINE,
                'x' => Flags::COMMENTS,
                'd' => Flags::UNIX_LINES,
                'U' => Flags::UNICODE_CHARACTER_CLASS,
                'l' => Flags::LITERAL,
                _ => return None,
            },
        )
    })
}

/// UTF-16 offset of a byte offset; within a character outside the basic plane the second unit.
fn utf16(text: &str, pos: usize) -> usize {
    text.char_indices()
        .take_while(|(i, _)| *i < pos)
        .map(|(i, c)| if pos < i + c.len_utf8() { 1 } else { c.len_utf16() })
        .sum()
}

fn span(text: &str, (start, end): (usize, usize)) -> Value {
    let bytes = Pattern::text(text.as_bytes(), (start, end));
    json!({ "u16": [utf16(text, start), utf16(text, end)], "text": String::from_utf8_lossy(&bytes) })
}

/// The part of an expected match that is compared: UTF-16 offsets and the text as Java writes it in UTF-8.
fn expected_span(v: &Value) -> Value {
    let text = match &v["text"] {
        Value::String(s) => s.clone(),
        _ => String::from_utf8_lossy(&unhex(v["textGetBytesUtf8Hex"].as_str().unwrap())).into_owned(),
    };
    json!({ "u16": v["u16"], "text": text })
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn found(pattern: &Pattern, text: &str, captures: &Captures) -> Value {
    let mut value = span(text, captures.get(0).unwrap());
    let group = |k: usize| captures.get(k).map_or(Value::Null, |place| span(text, place));
    value["groups"] = (1..=pattern.group_count()).map(group).collect();
    for (name, k) in pattern.group_names() {
        value["named"][name] = group(k)["text"].clone();
    }
    value
}

fn expected_found(v: &Value) -> Value {
    let mut value = expected_span(v);
    let group = |g: &Value| if g.is_null() { Value::Null } else { expected_span(g) };
    value["groups"] = v["groups"].as_array().unwrap().iter().map(group).collect();
    if let Some(named) = v.get("named") {
        value["named"] = named.clone();
    }
    value
}

fn expected(mode: &str, v: &Value) -> Value {
    if let Some(error) = v.get("error") {
        return json!({ "error": error });
    }
    let whole = |name: &str| {
        if v[name] == json!(true) { json!({ "yes": expected_found(v) }) } else { json!("no") }
    };
    match mode {
        "find-all" => v["found"].as_array().unwrap().iter().map(expected_found).collect(),
        "groups" => whole("find"),
        "matches" | "lookingAt" => whole(mode),
        "split" => v["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| if p.is_string() { p.clone() } else { expected_half(p, "text") })
            .collect(),
        _ => expected_half(v, "result"),
    }
}

/// A text that may hold half a character.
fn expected_half(v: &Value, key: &str) -> Value {
    match &v[key] {
        Value::String(s) => json!(s),
        _ => json!(String::from_utf8_lossy(&unhex(v[format!("{key}GetBytesUtf8Hex")].as_str().unwrap()))),
    }
}

fn answer(case: &Value) -> Result<Value, MatchError> {
    let field = |name: &str| case[name].as_str().unwrap_or_default();
    let (text, mode) = (field("input"), field("mode"));
    let Some(flags) = flags(field("flags")) else { return Ok(json!("CANON_EQ is not offered")) };
    let pattern = match Pattern::compile(field("pattern"), flags) {
        Ok(pattern) => pattern,
        Err(e) => {
            return Ok(json!({ "error": {
                "stage": "compile", "class": "PatternSyntaxException", "description": e.description, "index": e.index } }));
        }
    };
    let bytes = text.as_bytes();
    let mut captures = pattern.captures();
    let yes = |yes: bool, captures: &Captures| {
        if yes { json!({ "yes": found(&pattern, text, captures) }) } else { json!("no") }
    };
    Ok(match mode {
        "find-all" => {
            let mut all = Vec::new();
            let mut matches = pattern.find_all(bytes);
            while all.len() < 100 && matches.next(Some(&mut captures))?.is_some() {
                all.push(found(&pattern, text, &captures));
            }
            Value::Array(all)
        }
        "groups" => yes(pattern.find_captures(bytes, &mut captures)?, &captures),
        "matches" => yes(pattern.matches(bytes, Some(&mut captures))?, &captures),
        "lookingAt" => yes(pattern.looking_at(bytes, Some(&mut captures))?.is_some(), &captures),
        "split" => {
            let mut parts = Vec::new();
            pattern.split(bytes, case["limit"].as_i64().unwrap_or(0) as i32, &mut parts)?;
            parts.iter().map(|&p| json!(String::from_utf8_lossy(&Pattern::text(bytes, p)))).collect()
        }
        _ => {
            let replacement = pattern.replacement(field("replacement"));
            let mut out = Vec::new();
            let any = if mode == "replaceAll" {
                pattern.replace_all(bytes, &replacement, &mut captures, &mut out)?
            } else {
                pattern.replace_first(bytes, &replacement, &mut captures, &mut out)?
            };
            if any { json!(String::from_utf8(out).unwrap()) } else { json!(text) }
        }
    })
}

fn answer_or_error(case: &Value) -> Value {
    match answer(case) {
        Ok(value) => value,
        Err(MatchError::Replacement(e)) => {
            let class =
                if e.no_such_group { "IndexOutOfBoundsException" } else { "IllegalArgumentException" };
            json!({ "error": { "stage": "match", "class": class, "message": e.message } })
        }
        Err(e) => json!({ "too complex": e.to_string() }),
    }
}

#[test]
fn every_case_that_a_jdk_answered_has_the_same_answer() {
    let mut areas: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut excepted = Vec::new();
    for line in golden("cases.jsonl.gz").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (id, area) = (case["id"].as_str().unwrap(), case["area"].as_str().unwrap());
        let count = areas.entry(area.to_owned()).or_default();
        count.0 += 1;
        let (want, mut got) =
            (expected(case["mode"].as_str().unwrap(), &case["expect"]), answer_or_error(&case));
        if !case["expect"].to_string().contains("\"named\"") {
            // The maker of the file overlooked names after blanks.
            got.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut).for_each(|m| {
                m.remove("named");
            });
        }
        let exception = EXCEPTIONS.iter().any(|(prefix, _)| id.starts_with(prefix));
        if want == got {
            if exception {
                wrong.push(format!("{id} is listed as an exception but agrees with Java"));
            }
        } else {
            count.1 += 1;
            excepted.push((id.to_owned(), area.to_owned()));
            if !exception {
                let (pattern, flags, input) = (&case["pattern"], &case["flags"], &case["input"]);
                wrong.push(format!(
                    "{id} {pattern} {flags} {}{} on {input}\n  Java   {want}\n  Flumen {got}",
                    case["mode"], case["replacement"]
                ));
            }
        }
    }
    for (area, (all, differ)) in &areas {
        println!("{area}: {all} cases, {differ} differ");
    }
    let total: usize = areas.values().map(|a| a.0).sum();
    println!("all: {total} cases, {} differ", excepted.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(total > 11_000 && excepted.len() * 100 <= total);
    for (id, area) in excepted {
        assert!(!EXACT.iter().any(|exact| area.starts_with(exact)), "{id} must not differ");
    }
}

/// The code points, surrogates left out, that `pattern` matches as a whole text, written as in the file.
fn ranges(pattern: &Pattern) -> (usize, String) {
    let (mut count, mut out) = (0, Vec::new());
    let mut open: Option<u32> = None;
    for cp in 0..=0x11_0000 {
        let matches = char::from_u32(cp).is_some_and(|c| {
            let mut buffer = [0; 4];
            pattern.matches(c.encode_utf8(&mut buffer).as_bytes(), None).unwrap()
        });
        count += usize::from(matches);
        match (open, matches) {
            (None, true) => open = Some(cp),
            (Some(from), false) => {
                out.push(if cp - 1 > from { format!("{from:X}-{:X}", cp - 1) } else { format!("{from:X}") });
                open = None;
            }
            _ => {}
        }
    }
    (count, out.join(" "))
}

#[test]
fn every_named_class_has_the_members_that_a_jdk_finds() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in golden("classes.tsv").lines().skip(1) {
        let field: Vec<&str> = line.split('\t').collect();
        let compiled = Pattern::compile(field[0], flags(field[1]).unwrap());
        let (count, members) = match &compiled {
            Ok(pattern) => {
                let (count, members) = ranges(pattern);
                (count.to_string(), members)
            }
            Err(e) => ("error".to_owned(), format!("{} @{}", e.description, e.index)),
        };
        if (count.as_str(), members.as_str()) != (field[2], field[3]) {
            wrong.push(format!("{} {}: {count} instead of {}", field[0], field[1], field[2]));
        }
        rows += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(rows, 205);
}

#[test]
fn every_cased_character_ignores_case_as_in_a_jdk() {
    let lines = golden("casefold.tsv");
    let rows: Vec<Vec<&str>> = lines.lines().skip(1).map(|l| l.split('\t').collect()).collect();
    let hex = |s: &str| char::from_u32(u32::from_str_radix(s, 16).unwrap()).unwrap();
    // The file leaves some characters out as rows; all that it names are tried.
    let named = rows.iter().flat_map(|row| row.iter().flat_map(|column| column.split(' ')));
    let texts: BTreeMap<u32, (&str, String)> = named
        .filter(|cp| !cp.is_empty() && *cp != "=")
        .map(|cp| (u32::from_str_radix(cp, 16).unwrap(), (cp, hex(cp).to_string())))
        .collect();
    let mut wrong = Vec::new();
    for row in &rows {
        let others = |source: &str, letters: &str| {
            let pattern = Pattern::compile(source, flags(letters).unwrap()).unwrap();
            let others = texts
                .values()
                .filter(|(cp, text)| cp != &row[0] && pattern.matches(text.as_bytes(), None).unwrap());
            others.map(|(cp, _)| *cp).collect::<Vec<_>>().join(" ")
        };
        let one = format!("\\x{{{}}}", row[0]);
        let class = if row[3] == "=" { row[2] } else { row[3] };
        let got = (others(&one, "i"), others(&one, "iu"), others(&format!("[{one}-{one}]"), "iu"));
        if (got.0.as_str(), got.1.as_str(), got.2.as_str()) != (row[1], row[2], class) {
            wrong.push(format!("{}: {got:?} instead of {row:?}", row[0]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows.len() > 2000);
}
