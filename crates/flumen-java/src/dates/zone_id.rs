//! Which zone ids a JDK knows beyond the tz database, and how it reads `GMT+5:30`.

/// Short ids of JDK 1.1, with the zone that each stands for.
const SHORT: [(&str, &str); 25] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// Ids that are a constant offset in a JDK, in hours.
const FIXED: [(&str, i32); 10] = [
    ("EST", -5),
    ("MST", -7),
    ("HST", -10),
    ("SystemV/AST4", -4),
    ("SystemV/EST5", -5),
    ("SystemV/CST6", -6),
    ("SystemV/MST7", -7),
    ("SystemV/PST8", -8),
    ("SystemV/YST9", -9),
    ("SystemV/HST10", -10),
];

/// Ids with the summer time rule that the United States had from 1976 to 1986.
const SYSTEM_V: [(&str, &str); 6] = [
    ("SystemV/AST4ADT", "AST4ADT,M4.5.0,M10.5.0"),
    ("SystemV/EST5EDT", "EST5EDT,M4.5.0,M10.5.0"),
    ("SystemV/CST6CDT", "CST6CDT,M4.5.0,M10.5.0"),
    ("SystemV/MST7MDT", "MST7MDT,M4.5.0,M10.5.0"),
    ("SystemV/PST8PDT", "PST8PDT,M4.5.0,M10.5.0"),
    ("SystemV/YST9YDT", "YST9YDT,M4.5.0,M10.5.0"),
];

/// What an id stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ZoneId<'a> {
    /// A constant offset in milliseconds.
    Fixed(i32),
    /// A `GMT+hh:mm` zone, with its id as a JDK writes it.
    Custom(String, i32),
    /// A POSIX rule.
    Posix(&'static str),
    /// Perhaps in the tz database, by this name.
    Named(&'a str),
}

/// Sorts `id` by the rules of `java.util.TimeZone.getTimeZone`, which compares ids with case.
pub(crate) fn classify(id: &str) -> ZoneId<'_> {
    if let Some(&(_, hours)) = FIXED.iter().find(|(name, _)| *name == id) {
        return ZoneId::Fixed(hours * 3_600_000);
    }
    if let Some(&(_, rule)) = SYSTEM_V.iter().find(|(name, _)| *name == id) {
        return ZoneId::Posix(rule);
    }
    if let Some(&(_, name)) = SHORT.iter().find(|(name, _)| *name == id) {
        return ZoneId::Named(name);
    }
    match custom_offset_minutes(id) {
        Some((0, negative)) => ZoneId::Custom(if negative { "GMT-00:00" } else { "GMT+00:00" }.to_owned(), 0),
        Some((minutes, _)) => ZoneId::Custom(custom_id(minutes), minutes * 60_000),
        None => ZoneId::Named(id),
    }
}

/// The id of a constant offset as a JDK writes it: `GMT+05:30`.
pub(crate) fn custom_id(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("GMT{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// Minutes of `GMT+h`, `GMT+hh`, `GMT+hmm`, `GMT+hhmm`, `GMT+h:mm` or `GMT+hh:mm`, and whether it has a minus.
fn custom_offset_minutes(id: &str) -> Option<(i32, bool)> {
    let rest = id.strip_prefix("GMT")?;
    let negative = rest.starts_with('-');
    let digits = rest.strip_prefix(['+', '-'])?;
    let number = |text: &str| -> Option<i32> {
        let fits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse().ok()).flatten()
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if hours.len() <= 2 && minutes.len() == 2 => {
            (number(hours)?, number(minutes)?)
        }
        Some(_) => return None,
        None if digits.len() <= 2 => (number(digits)?, 0),
        None => (number(digits)? / 100, number(digits)? % 100),
    };
    let total = hours * 60 + minutes;
    (hours <= 23 && minutes <= 59).then_some((if negative { -total } else { total }, negative))
}
