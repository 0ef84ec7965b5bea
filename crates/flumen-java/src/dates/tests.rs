//! Behaviours of the public types that the golden tables do not show.

use super::*;

fn options(rounding: Option<Rounding>) -> PathOptions {
    let hosts =
        HostNames { localhost: "web1".into(), ip: "10.0.0.1".into(), fqdn: "web1.example.org".into() };
    PathOptions { zone: Zone::utc(), locale: Locale::us(), rounding, hosts }
}

fn rendered(
    text: &str,
    rounding: Option<Rounding>,
    header: Option<&str>,
    local: Option<i64>,
) -> Result<String, RenderError> {
    let template = PathTemplate::compile(text, &options(rounding)).unwrap();
    let mut out = String::new();
    template.render(&mut out, |name| header.filter(|_| name == "timestamp"), local).map(|()| out)
}

/// HDFS-43
#[test]
fn hdfs_43_names_of_the_host_are_expanded_in_any_case_and_others_refused() {
    let path = rendered("/%[localhost]/%[IP]/%[Fqdn]", None, None, None);
    assert_eq!(path.as_deref(), Ok("/web1/10.0.0.1/web1.example.org"));
    let refused = PathTemplate::compile("%[abcdefg]", &options(None)).unwrap_err();
    assert_eq!(refused, PathError::Word("abcdefg".into()));
}

/// HDFS-39
#[test]
fn hdfs_39_percent_c_is_the_date_with_an_unpadded_day() {
    assert_eq!(rendered("%c", None, Some("1136073600001"), None).as_deref(), Ok("Sun Jan 1 00:00:00 2006"));
}

/// HDFS-40, HDFS-44
#[test]
fn hdfs_40_rounding_is_down_in_the_configured_zone() {
    // 2012-06-15 13:46:33.234 in Berlin.
    let millis = 1_339_760_793_234;
    let zone = Zone::of_id("Europe/Berlin");
    let format = DateFormat::compile("HH:mm:ss.SSS", &Locale::us(), &zone).unwrap();
    let round = |unit, value| format.format(Rounding::new(unit, value).unwrap().down(millis, &zone));
    assert_eq!(round(RoundUnit::Hour, 12), "12:00:00.000");
    assert_eq!(round(RoundUnit::Minute, 5), "13:45:00.000");
    assert_eq!(round(RoundUnit::Second, 5), "13:46:30.000");
    assert_eq!(round(RoundUnit::Second, 60), "13:46:00.000");
    assert!(Rounding::new(RoundUnit::Hour, 25).is_err() && Rounding::new(RoundUnit::Minute, 0).is_err());
}

/// HDFS-42, HDFS-18 and FIX-53: the caller reads the clock once and hands it on.
#[test]
fn hdfs_42_the_local_time_is_one_for_all_escapes() {
    let rounding = Rounding::new(RoundUnit::Minute, 10).ok();
    let time = 1_700_000_000_999;
    let path = rendered("%H:%M %s %t", rounding, Some("5"), Some(time));
    assert_eq!(path.as_deref(), Ok("22:10 1699999800 1700000000999"));
}

#[test]
fn a_template_tells_what_it_needs() {
    let template = PathTemplate::compile("/a/%{host}/%{x.y}", &options(None)).unwrap();
    assert!(!template.needs_timestamp());
    assert_eq!(template.headers().collect::<Vec<_>>(), ["host", "x.y"]);
    assert!(PathTemplate::compile("%%", &options(None)).unwrap().needs_timestamp());
    assert_eq!(PathTemplate::compile("/a/b", &options(None)).unwrap().as_constant(), Some("/a/b"));
    assert_eq!(PathTemplate::compile("/a/%{b}", &options(None)).unwrap().as_constant(), None);
}

#[test]
fn a_missing_or_bad_timestamp_is_told_by_name() {
    assert_eq!(rendered("%Y", None, None, None), Err(RenderError::NoTimestamp));
    assert_eq!(rendered("%Y", None, Some("now"), None), Err(RenderError::BadTimestamp("now".into())));
    let rounding = Rounding::new(RoundUnit::Hour, 1).ok();
    assert_eq!(rendered("%Y", rounding, Some("0"), None), Err(RenderError::NotPositive(0)));
    assert_eq!(rendered("%Y", None, Some("9223372036854775808"), None).map_err(|_| ()), Err(()));
}

#[test]
fn a_step_to_the_parent_is_found() {
    assert!(
        has_parent_step("/logs/../etc")
            && has_parent_step("..")
            && has_parent_step("a/..")
            && has_parent_step("a\0")
    );
    assert!(!has_parent_step("/logs/..a/b../.../x"));
}

#[test]
fn an_unknown_zone_is_gmt_but_can_be_told() {
    assert_eq!(Zone::of_id("Mars/Olympus").id(), "GMT");
    assert!(Zone::find("Mars/Olympus").is_none() && Zone::find("europe/berlin").is_none());
    assert_eq!(Zone::find("GMT+5").map(|zone| zone.id().to_owned()).as_deref(), Some("GMT+05:00"));
}

#[test]
fn a_zone_name_in_a_text_does_not_stay_with_the_format() {
    let format = DateFormat::compile("HH:mm z", &Locale::us(), &Zone::utc()).unwrap();
    assert_eq!(format.parse("00:00 EST").map(|parsed| parsed.millis), Ok(5 * 3_600_000));
    assert_eq!(format.format(0), "00:00 UTC");
}

#[test]
fn two_digit_years_lie_around_the_present() {
    let now = 1_750_000_000_000;
    let format = DateFormat::compile("yy-MM-dd", &Locale::us(), &Zone::utc())
        .unwrap()
        .with_two_digit_years_around(now);
    let year = |text: &str| {
        DateFormat::compile("yyyy", &Locale::us(), &Zone::utc())
            .unwrap()
            .format(format.parse(text).unwrap().millis)
    };
    // From 2025-06-15 on: 80 years back to the day.
    assert_eq!((year("45-06-14"), year("45-06-16")), ("2045".to_owned(), "1945".to_owned()));
    assert_eq!((year("44-12-31"), year("46-01-01")), ("2044".to_owned(), "1946".to_owned()));
}

#[test]
fn joda_reads_zone_ids_and_two_digit_years() {
    let read = |pattern: &str, text: &str| {
        JodaFormat::compile(pattern, &Locale::us(), &Zone::utc(), 1_750_000_000_000).unwrap().parse(text)
    };
    assert_eq!(read("yyyy-MM-dd HH ZZZ", "2024-07-01 12 Europe/Berlin"), Ok(1_719_828_000_000));
    assert_eq!(read("yyyy-MM-dd HH z", "2024-07-01 12 EST"), Ok(1_719_849_600_000));
    // The pivot is 1995: 1945 to 2044.
    assert_eq!(read("yy/MM/dd", "44/01/01"), Ok(2_335_219_200_000));
    assert_eq!(read("yy/MM/dd", "45/01/01"), Ok(-788_918_400_000));
    assert_eq!(read("xxxx-'W'ww-e", "2020-W53-7"), Ok(1_609_632_000_000));
    assert_eq!(
        read("xxxx-'W'ww-e", "2021-W53-7"),
        Err(JodaError::Value { field: "weekOfWeekyear", value: 53 })
    );
    assert_eq!(read("yyyy-MM-dd HH:mm:ssZ", "2024-01-01 00:00:00+01:30:15.5"), Ok(1_704_061_784_500));
}
