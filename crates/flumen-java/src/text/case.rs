//! Upper and lower case as in JDK 17 (Unicode 13): Rust's tables are newer, so what was added later is left alone.

/// Whose rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseLocale {
    /// Every language without rules of its own.
    English,
    /// Turkish and Azeri: i with and without its dot.
    Turkish,
}

/// `String.toUpperCase(locale)`.
pub fn to_upper(text: &str, locale: CaseLocale) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, locale) {
            ('i', CaseLocale::Turkish) => out.push('İ'),
            (c, _) if is_newer(c) => out.push(c),
            (c, _) => out.extend(c.to_uppercase()),
        }
    }
    out
}

/// `String.toLowerCase(locale)`. A sigma at the end of a word becomes ς; where words end is Unicode's rule, Java's differs next to
/// hyphens, colons and digits.
pub fn to_lower(text: &str, locale: CaseLocale) -> String {
    if locale == CaseLocale::Turkish && text.contains(['I', 'İ']) {
        return lower(&text.replace(DOTTED_I, "i").replace('İ', "i").replace('I', "ı"));
    }
    lower(text)
}

/// I with a dot above it as a character of its own.
const DOTTED_I: &str = "I\u{307}";

fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Between newer letters whole texts, for the rule of the sigma.
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_newer(*c)) {
        out.push_str(&rest[..at].to_lowercase());
        out.push(c);
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(&rest.to_lowercase());
    out
}

/// `String.equalsIgnoreCase`.
pub fn equals_ignore_case(a: &str, b: &str) -> bool {
    a.chars().map(folded).eq(b.chars().map(folded))
}

/// `Character.toLowerCase(Character.toUpperCase(c))`, one to one.
pub(super) fn folded(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { simple_lower(simple_upper(c)) }
}

fn simple_upper(c: char) -> char {
    if is_newer(c) {
        return c;
    }
    let mut full = c.to_uppercase();
    match (full.next(), full.next()) {
        (Some(upper), None) => upper,
        // These write out a iota in full and have a title case of their own.
        _ => match c {
            '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => offset(c, 8),
            '\u{1FB3}' | '\u{1FC3}' | '\u{1FF3}' => offset(c, 9),
            _ => c,
        },
    }
}

fn offset(c: char, by: u32) -> char {
    char::from_u32(u32::from(c) + by).unwrap_or(c)
}

fn simple_lower(c: char) -> char {
    if is_newer(c) {
        return c;
    }
    match c {
        'İ' => 'i',
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Letters that got their case mapping only with Unicode 14 to 17.
fn is_newer(c: char) -> bool {
    c > 'z'
        && matches!(c,
            'ƛ' | 'ɤ' | '\u{1C89}' | '\u{1C8A}' | '\u{2C2F}' | '\u{2C5F}' | '\u{A7C0}' | '\u{A7C1}'
            | '\u{A7CB}'..='\u{A7DC}' | '\u{10570}'..='\u{105BC}' | '\u{10D50}'..='\u{10D85}'
            | '\u{16EA0}'..='\u{16ED3}')
}
