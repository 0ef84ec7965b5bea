//! What the golden cases leave out.

use super::*;

#[test]
fn doubles_are_written_as_before_jdk_19() {
    for (value, text) in [
        (2e23, "1.9999999999999998E23"),
        (5.684341886080802e-14, "5.6843418860808015E-14"),
        (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
        (5e-324, "4.9E-324"),
        (f64::MAX, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (9_999_999.0, "9999999.0"),
        (1e-3, "0.001"),
        (9.99e-4, "9.99E-4"),
        (-0.0, "-0.0"),
    ] {
        assert_eq!(double_to_string(value), text);
    }
    assert_eq!(float_to_string(f32::MIN_POSITIVE / 8_388_608.0), "1.4E-45");
    assert_eq!(float_to_string(16_777_216.0), "1.6777216E7");
}

#[test]
fn whole_numbers_keep_their_range() {
    assert_eq!(parse_int("-2147483648"), Ok(i32::MIN));
    assert!(parse_int("2147483648").is_err());
    assert_eq!(parse_long("-9223372036854775808"), Ok(i64::MIN));
    assert!(parse_long("9223372036854775808").is_err());
    assert_eq!(parse_int("١٢٣"), Ok(123));
    for bad in ["", "+", "-", " 1", "1 ", "--1", "0x1", "1_0", "𝟏"] {
        assert!(parse_int(bad).is_err(), "{bad:?}");
    }
    assert_eq!(
        parse_int("x").unwrap_err().to_string(),
        "\"x\" is not a whole number from -2147483648 to 2147483647"
    );
}

#[test]
fn hexadecimal_numbers_round_to_the_nearest_even_once() {
    assert_eq!(parse_double("0x1.8p3"), Ok(12.0));
    assert_eq!(parse_double("-0x.8p1d"), Ok(-1.0));
    assert_eq!(parse_double("0x1.00000000000008p0"), Ok(1.0));
    assert_eq!(parse_double("0x1.000000000000080000001p0"), Ok(1.0 + f64::EPSILON));
    assert_eq!(parse_double("0x1p-1075"), Ok(0.0));
    assert_eq!(parse_double("0x1.0000001p-1075"), Ok(5e-324));
    assert_eq!(parse_double("0x1.fffffffffffff8p1023"), Ok(f64::INFINITY));
    assert_eq!(parse_double("0x0p99999999999999999999"), Ok(0.0));
    assert_eq!(parse_double("0x1p99999999999999999999"), Ok(f64::INFINITY));
    assert_eq!(parse_float("0x1.000001p0"), Ok(1.0));
    assert_eq!(parse_float("0x1.00000101p0"), Ok(1.0 + f32::EPSILON));
    for bad in ["0x", "0x1", "0xp1", "0x.p1", "0x1p", "0x1pf", "0x1.2.3p1", "0xgp1"] {
        assert!(parse_double(bad).is_err(), "{bad}");
    }
}

#[test]
fn round_goes_up_at_the_half() {
    for (value, rounded) in [
        (0.5, 1),
        (-0.5, 0),
        (2.5, 3),
        (-2.5, -2),
        (0.499_999_999_999_999_94, 0),
        (9_007_199_254_740_991.0, 9_007_199_254_740_991),
        (1e300, i64::MAX),
        (f64::NEG_INFINITY, i64::MIN),
        (f64::NAN, 0),
    ] {
        assert_eq!(round(value), rounded, "{value}");
    }
}

#[test]
fn a_width_that_would_fill_the_memory_is_refused() {
    let refused = format(FormatLocale::ENGLISH, "%2000000000d", &[Arg::Int(1)]);
    assert!(matches!(refused, Err(FormatError::Unsupported(_))));
    let refused = format(FormatLocale::ENGLISH, "%99999999999999999999$d", &[Arg::Int(1)]);
    assert!(matches!(refused, Err(FormatError::Unsupported(_))));
}

#[test]
fn arguments_can_be_taken_by_place() {
    let args = [Arg::Str("a"), Arg::Int(7)];
    assert_eq!(format(FormatLocale::ENGLISH, "%2$d %1$s %s %s %<s", &args).unwrap(), "7 a a 7 7");
}
