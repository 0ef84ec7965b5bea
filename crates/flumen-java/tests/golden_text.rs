//! Numbers and texts against what a JDK's methods give.
#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod golden;

use flumen_java::number::{self, Arg, FormatError, FormatLocale};
use flumen_java::text::hash_order::{self, Made};
use flumen_java::text::mutf8::{self, Utf8Error};
use flumen_java::text::uuid::UuidError;
use flumen_java::text::{self, CaseLocale, Separator, Uuid, url};
use golden::{Verdict, unhex};
use serde_json::{Value, json};

/// Rows that differ on purpose; each is a row of docs/differences.md.
const KNOWN: &[(&str, &str)] =
    &[("format-0062", "String.format has no date conversions: dates are formatted by the dates module")];

/// A text with half pairs, as Flumen has it.
fn lossy(value: &Value) -> Value {
    match value {
        Value::Object(o) if o.contains_key("utf16") => golden::units(o["utf16"].as_str().unwrap()).into(),
        Value::Array(a) => a.iter().map(lossy).collect(),
        // The words of an exception are Java's own; which one it is counts.
        Value::Object(o) if o.contains_key("error") => json!({ "error": o["error"] }),
        Value::Object(o) => o.iter().map(|(k, v)| (k.clone(), lossy(v))).collect(),
        other => other.clone(),
    }
}

fn error(name: &str) -> Value {
    json!({ "error": name })
}

fn numbers(s: &str) -> Value {
    let not_a_number = || error("NumberFormatException");
    json!({
        "int": number::parse_int(s).map_or_else(|_| not_a_number(), |v| v.into()),
        "long": number::parse_long(s).map_or_else(|_| not_a_number(), |v| v.to_string().into()),
        "boolean": number::parse_boolean(s),
        "float": number::parse_float(s).map_or_else(|_| not_a_number(), |v| {
            json!({ "bits": format!("{:08x}", v.to_bits()), "text": number::float_to_string(v) })
        }),
        "double": number::parse_double(s).map_or_else(|_| not_a_number(), |v| {
            json!({ "bits": format!("{:016x}", v.to_bits()), "text": number::double_to_string(v) })
        }),
    })
}

fn separator(regex: &str) -> Separator<'_> {
    match regex {
        r"\s+" => Separator::Blanks,
        r"\s*,\s*" => Separator::CommaWithBlanks,
        r"[,\s]+" => Separator::CommasAndBlanks,
        r"\R" => Separator::LineEnd,
        "." => Separator::AnyChar,
        "" | "|" => Separator::Nothing,
        r"\t" => Separator::Text("\t"),
        r"\." => Separator::Text("."),
        r"\|" => Separator::Text("|"),
        plain => Separator::Text(plain),
    }
}

fn format_error(e: &FormatError) -> &'static str {
    match e {
        FormatError::UnknownConversion(_) => "UnknownFormatConversionException",
        FormatError::MissingArgument(_) => "MissingFormatArgumentException",
        FormatError::WrongArgument(_) => "IllegalFormatConversionException",
        FormatError::MissingWidth(_) => "MissingFormatWidthException",
        FormatError::FlagMismatch(..) => "FormatFlagsConversionMismatchException",
        FormatError::Precision(_) => "IllegalFormatPrecisionException",
        FormatError::Flags(_) => "IllegalFormatFlagsException",
        FormatError::Width(_) => "IllegalFormatWidthException",
        FormatError::CodePoint(_) => "IllegalFormatCodePointException",
        FormatError::Unsupported(_) => "unsupported",
    }
}

fn format(input: &str, case: &Value) -> Value {
    let args: Vec<Arg<'_>> = case["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| {
            let (kind, value) = a.as_str().unwrap().split_once(':').unwrap();
            match kind {
                "i" => Arg::Int(value.parse().unwrap()),
                "l" => Arg::Long(value.parse().unwrap()),
                "d" => Arg::Double(number::parse_double(value).unwrap()),
                "b" => Arg::Bool(value == "true"),
                "c" => Arg::Char(value.chars().next().unwrap()),
                "n" => Arg::Null,
                _ => Arg::Str(value),
            }
        })
        .collect();
    let locale = FormatLocale::for_language_tag(case["locale"].as_str().unwrap());
    number::format(locale, input, &args).map_or_else(|e| error(format_error(&e)), Value::from)
}

fn hashmap(keys: &[&str]) -> Value {
    let named = |order: Vec<usize>| order.into_iter().map(|i| keys[i]).collect::<Vec<_>>();
    let order = named(hash_order::order(keys, Made::Empty));
    let copied: Vec<&str> = hash_order::order(&order, Made::Copy).into_iter().map(|i| order[i]).collect();
    let entries: Vec<(&str, String)> = keys.iter().enumerate().map(|(i, k)| (*k, format!("v{i}"))).collect();
    json!({
        "order": order,
        "text": hash_order::map_to_string(&entries),
        "copyOrder": if copied == order { json!("=") } else { json!(copied) },
        "setOrder": named(hash_order::order(keys, Made::Set)),
    })
}

fn mutf8_write(input: &str, case: &Value) -> Value {
    let mut out = Vec::new();
    let result = if let Some(hex) = case["utf16"].as_str() {
        let units: Vec<u16> = unhex(hex).chunks(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect();
        mutf8::write_units(units.into_iter(), &mut out)
    } else {
        let n = case["repeat"].as_u64().unwrap_or(1);
        mutf8::write(&input.repeat(n as usize), &mut out)
    };
    match result {
        Err(e) => error(utf_error(e)),
        Ok(()) if out.len() > 200 => format!("length {}", out.len()).into(),
        Ok(()) => out.iter().map(|b| format!("{b:02x}")).collect::<String>().into(),
    }
}

fn utf_error(e: Utf8Error) -> &'static str {
    match e {
        Utf8Error::Ended => "EOFException",
        Utf8Error::TooLong(_) | Utf8Error::Malformed(_) => "UTFDataFormatException",
    }
}

fn sorted(keys: &[&str], by: fn(&str, &str) -> std::cmp::Ordering) -> Vec<String> {
    let mut keys: Vec<String> = keys.iter().map(|k| (*k).to_owned()).collect();
    keys.sort_by(|a, b| by(a, b));
    keys
}

fn run(case: &Value) -> Value {
    let input = case["input"].as_str().unwrap_or_default();
    let keys: Vec<&str> =
        case["keys"].as_array().into_iter().flatten().map(|k| k.as_str().unwrap()).collect();
    match case["op"].as_str().unwrap() {
        "parse" => {
            let mut all = numbers(input);
            if text::trim(input) != input {
                all["afterTrim"] = numbers(text::trim(input));
            }
            all
        }
        "double" => {
            let d = f64::from_bits(u64::from_str_radix(input, 16).unwrap());
            json!({
                "text": number::double_to_string(d),
                "floatText": number::float_to_string(d as f32),
                "asInt": number::double_to_int(d),
                "asLong": number::double_to_long(d).to_string(),
                "round": number::round(d).to_string(),
            })
        }
        "split" => {
            let limit = case["limit"].as_i64().unwrap() as i32;
            json!(text::split(input, separator(case["regex"].as_str().unwrap()), limit))
        }
        "trim" => json!({
            "trim": text::trim(input),
            "strip": text::strip(input),
            "isBlank": text::is_blank(input),
            "isEmpty": input.is_empty(),
            "trimSplit": text::split(text::trim(input), Separator::Blanks, 0),
        }),
        "hash" => {
            let hash = text::hash_code(input);
            json!({
                "hashCode": hash,
                "length": text::length(input),
                "bucket16": (hash ^ (hash as u32 >> 16) as i32) & 15,
                "hex": format!("{hash:x}"),
            })
        }
        "hashmap" => hashmap(&keys),
        "urlencode" => url::encode(input).into(),
        "urldecode" => url::decode(input).map_or_else(|_| error("IllegalArgumentException"), Value::from),
        "mutf8write" => mutf8_write(input, case),
        "mutf8read" => {
            mutf8::read(&unhex(input)).map_or_else(|e| error(utf_error(e)), |(text, _)| Value::from(text))
        }
        "uuid" => match Uuid::parse(input) {
            Ok(u) => json!({ "text": u.to_string(), "version": u.version(), "variant": u.variant() }),
            Err(UuidError::Shape(_)) => error("IllegalArgumentException"),
            Err(UuidError::Digits(_)) => error("NumberFormatException"),
        },
        "uuidname" => Uuid::from_name(input.as_bytes()).to_string().into(),
        "uuidbits" => {
            let half = |hex: &str| u64::from_str_radix(hex, 16).unwrap();
            Uuid::from_bits(half(&input[..16]), half(&input[16..])).to_string().into()
        }
        "format" => format(input, case),
        "case" => {
            let upper = text::to_upper(input, CaseLocale::English);
            json!({
                "upper": upper,
                "lower": text::to_lower(input, CaseLocale::English),
                "upperTr": text::to_upper(input, CaseLocale::Turkish),
                "lowerTr": text::to_lower(input, CaseLocale::Turkish),
                "equalsIgnoreCaseToUpper": text::equals_ignore_case(input, &upper),
            })
        }
        "sort" => json!({
            "compareTo": sorted(&keys, text::compare),
            "caseInsensitive": sorted(&keys, text::compare_ignore_case),
        }),
        other => panic!("no such kind of case: {other}"),
    }
}

#[test]
fn methods_give_what_java_s_give() {
    let mut verdict = Verdict::new("text", KNOWN);
    for line in golden::read("text/cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        verdict.check(id, &case["input"].to_string(), run(&case), lossy(&case["expect"]));
    }
    verdict.settle(1712);
}

#[test]
#[should_panic(expected = "take it off the list")]
fn a_known_difference_that_is_gone_is_told() {
    let mut verdict = Verdict::new("self", &[("a", "of old")]);
    (0..100).for_each(|_| verdict.check("a", "", 1, 1));
    verdict.settle(1);
}

#[test]
#[should_panic(expected = "1 of 1 differ")]
fn a_difference_that_is_not_known_is_told() {
    let mut verdict = Verdict::new("self", &[]);
    verdict.check("a", "", 1, 2);
    verdict.settle(1);
}
