//! Dates with arbitrary input: nothing panics, and what was printed is read again.

use flumen_java::dates::{
    DateFormat, HostNames, JodaFormat, Locale, PathOptions, PathTemplate, RoundUnit, Rounding, Zone,
};
use proptest::prelude::*;

const LOCALES: [&str; 9] = ["root", "en_US", "de_DE", "fr_FR", "ja_JP", "zh_CN", "ar", "sv_SE", "fa_IR"];
const ZONES: [&str; 7] =
    ["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "GMT-3:30", "Europe/Dublin", "PST"];

fn locale() -> impl Strategy<Value = Locale> {
    proptest::sample::select(&LOCALES[..]).prop_map(Locale::of_tag)
}

fn zone() -> impl Strategy<Value = Zone> {
    proptest::sample::select(&ZONES[..]).prop_map(Zone::of_id)
}

/// Text that is near to a pattern or a date.
fn near() -> impl Strategy<Value = String> {
    prop_oneof!["[GyMdkHmsSEDFwWahKzZYuXLxCe' :/.,+-]{0,24}", "[0-9A-Za-z٠-٩年 :+.-]{0,40}", "\\PC{0,40}"]
}

proptest! {
    #[test]
    fn no_pattern_text_or_time_panics(
        pattern in near(), text in near(), millis: i64, locale in locale(), zone in zone(), strict: bool,
    ) {
        if let Ok(format) = DateFormat::compile(&pattern, &locale, &zone) {
            let format = format.with_two_digit_years_around(millis);
            let format = if strict { format.strict() } else { format };
            let printed = format.format(millis);
            for text in [&text, &printed] {
                match format.parse(text) {
                    Ok(parsed) => prop_assert!(text.is_char_boundary(parsed.end)),
                    Err(error) => prop_assert!(text.is_char_boundary(error.at)),
                }
            }
        }
        if let Ok(format) = JodaFormat::compile(&pattern, &locale, &zone, millis) {
            let _ = format.parse(&text);
        }
        let _ = Zone::find(&text);
    }

    #[test]
    fn what_was_printed_is_read_again(
        millis in -70_000_000_000_000i64..250_000_000_000_000, locale in locale(), zone in zone(),
    ) {
        // Offsets of seconds (local mean time) cannot be printed by Z.
        let millis = if zone.at(millis).total_ms() % 60_000 == 0 { millis } else { millis.rem_euclid(4_000_000_000_000) };
        for pattern in ["G yyyy-MM-dd HH:mm:ss.SSS XXX", "d MMMM yyyyy G, h:mm:ss.SSS a Z", "G yyyy DDD k:mm:ss.SSS XX"] {
            for strict in [false, true] {
                let format = DateFormat::compile(pattern, &locale, &zone).unwrap();
                let format = if strict { format.strict() } else { format };
                let text = format.format(millis);
                let parsed = format.parse(&text);
                prop_assert_eq!(parsed.map(|parsed| (parsed.millis, parsed.end)), Ok((millis, text.len())), "{}", text);
            }
        }
    }

    #[test]
    fn joda_time_reads_what_java_prints(millis in 0i64..250_000_000_000_000, zone in zone()) {
        let printed = DateFormat::compile("yyyy-MM-dd'T'HH:mm:ss.SSSZ", &Locale::us(), &zone).unwrap().format(millis);
        let format = JodaFormat::compile("yyyy-MM-dd'T'HH:mm:ss.SSSZ", &Locale::us(), &zone, millis).unwrap();
        prop_assert_eq!(format.parse(&printed), Ok(millis), "{}", printed);
    }

    #[test]
    fn rounding_gives_a_multiple_within_its_unit(millis in 1i64..4_000_000_000_000, value in 1u32..=60) {
        let down = Rounding::new(RoundUnit::Minute, value).unwrap().down(millis, &Zone::utc());
        prop_assert!(down <= millis && millis - down < 3_600_000);
        prop_assert_eq!(down / 60_000 % 60 % i64::from(value), 0);
        prop_assert_eq!(down % 60_000, 0);
    }

    #[test]
    fn no_path_or_header_panics_and_errors_leave_the_buffer(
        text in "(%[a-zA-Z%{}\\[\\]. é]|\\PC){0,20}", header in proptest::option::of("\\PC{0,20}"), local in proptest::option::of(any::<i64>()),
    ) {
        let options = PathOptions {
            zone: Zone::of_id("Europe/Berlin"),
            locale: Locale::us(),
            rounding: Rounding::new(RoundUnit::Hour, 5).ok(),
            hosts: HostNames::default(),
        };
        if let Ok(template) = PathTemplate::compile(&text, &options) {
            let mut out = "kept".to_owned();
            let result = template.render(&mut out, |_| header.as_deref(), local);
            prop_assert!(out.starts_with("kept") && (result.is_ok() || out == "kept"));
            prop_assert!(result.is_ok() || template.needs_timestamp());
        }
    }
}
