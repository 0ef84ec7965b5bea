//! Takes a format apart and checks what can be checked without arguments.

use super::{FormatError, MAX_WIDTH};

/// `%[index$][flags][width][.precision]conversion`
#[derive(Debug, Clone)]
pub(super) struct Spec<'a> {
    pub(super) text: &'a str,
    pub(super) index: Option<usize>,
    pub(super) flags: Flags,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) conversion: char,
}

impl Spec<'_> {
    pub(super) fn is_upper(&self) -> bool {
        self.conversion.is_ascii_uppercase()
    }
}

/// Some of `-#+ 0,(<`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags(u8);

const FLAGS: &str = "-#+ 0,(<";

impl Flags {
    pub(super) fn has(self, flag: char) -> bool {
        FLAGS.find(flag).is_some_and(|bit| self.0 >> bit & 1 == 1)
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn is_only(self, flag: char) -> bool {
        self.has(flag) && self.0.count_ones() == 1
    }

    /// Adds a flag; false if it is there already.
    fn add(&mut self, flag: char) -> bool {
        let there = self.has(flag);
        self.0 |= FLAGS.find(flag).map_or(0, |bit| 1 << bit);
        !there
    }

    /// Only what says on which side a text is padded.
    pub(super) fn with_padding(mut self, of: Self) -> Self {
        if of.has('-') {
            self.add('-');
        }
        self
    }
}

/// The literal texts of a pattern, each with what follows it.
pub(super) fn specs(pattern: &str) -> Result<Vec<(&str, Option<Spec<'_>>)>, FormatError> {
    let mut rest = pattern;
    let mut out = Vec::new();
    while let Some(at) = rest.find('%') {
        let (spec, used) = spec(&rest[at..])?;
        check(&spec)?;
        out.push((&rest[..at], Some(spec)));
        rest = &rest[at + used..];
    }
    out.push((rest, None));
    Ok(out)
}

/// Reads a specifier that starts with `%`, and says how long it is.
fn spec(text: &str) -> Result<(Spec<'_>, usize), FormatError> {
    let body = &text[1..];
    // What Java names in its message where nothing fits: the character after the percent sign.
    let unknown = || FormatError::UnknownConversion(body.chars().next().unwrap_or('%'));
    let mut at = 0;
    let index = match digits_end(body) {
        n if n > 0 && body[n..].starts_with('$') => {
            at = n + 1;
            Some(body[..n].parse().map_err(|_| FormatError::Unsupported(text[..n + 2].to_owned()))?)
        }
        _ => None,
    };
    let mut flags = Flags::default();
    while let Some(flag) = body[at..].chars().next().filter(|c| FLAGS.contains(*c)) {
        at += 1;
        if !flags.add(flag) {
            return Err(FormatError::Flags(text[..at + 1].to_owned()));
        }
    }
    let size = |digits: &str| match digits.parse::<usize>() {
        Ok(n) if n <= MAX_WIDTH => Ok(n),
        _ => Err(FormatError::Unsupported(format!("width or precision {digits}"))),
    };
    let n = digits_end(&body[at..]);
    let width = if n > 0 { Some(size(&body[at..at + n])?) } else { None };
    at += n;
    let mut precision = None;
    if body[at..].starts_with('.') {
        let n = digits_end(&body[at + 1..]);
        if n == 0 {
            return Err(unknown());
        }
        precision = Some(size(&body[at + 1..at + 1 + n])?);
        at += 1 + n;
    }
    let conversion = body[at..].chars().next().ok_or_else(unknown)?;
    if matches!(conversion, 't' | 'T') {
        return Err(FormatError::Unsupported("date conversion %t".to_owned()));
    }
    if !"bBhHsScCdoxXeEfgGaA%n".contains(conversion) {
        return Err(FormatError::UnknownConversion(conversion));
    }
    let used = 1 + at + 1;
    Ok((Spec { text: &text[..used], index, flags, width, precision, conversion }, used))
}

fn digits_end(text: &str) -> usize {
    text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len())
}

/// The checks of a specifier by itself, in Java's order.
fn check(spec: &Spec<'_>) -> Result<(), FormatError> {
    let Spec { flags, conversion, .. } = *spec;
    let illegal = || Err(FormatError::Flags(spec.text.to_owned()));
    let no_width = |flag| flags.has(flag) && spec.width.is_none();
    let missing = || Err(FormatError::MissingWidth(spec.text.to_owned()));
    let no_precision = || match spec.precision {
        Some(_) => Err(FormatError::Precision(conversion)),
        None => Ok(()),
    };
    let no_flag = |list: &str| match list.chars().find(|f| flags.has(*f)) {
        Some(flag) => Err(FormatError::FlagMismatch(conversion, flag)),
        None => Ok(()),
    };
    match conversion.to_ascii_lowercase() {
        'n' => {
            no_precision()?;
            if spec.width.is_some() {
                return Err(FormatError::Width(spec.text.to_owned()));
            }
            if flags.is_empty() { Ok(()) } else { illegal() }
        }
        '%' => {
            no_precision()?;
            if !flags.is_empty() && !flags.is_only('-') {
                return illegal();
            }
            if no_width('-') { missing() } else { Ok(()) }
        }
        'c' => {
            no_precision()?;
            no_flag("#+ 0,(")?;
            if no_width('-') { missing() } else { Ok(()) }
        }
        's' | 'b' | 'h' => {
            if !conversion.eq_ignore_ascii_case(&'s') {
                no_flag("#")?;
            }
            if no_width('-') {
                return missing();
            }
            no_flag("+ 0,(#")
        }
        kind => {
            if no_width('-') || no_width('0') {
                return missing();
            }
            if flags.has('+') && flags.has(' ') || flags.has('-') && flags.has('0') {
                return illegal();
            }
            match kind {
                'd' => no_precision().and_then(|()| no_flag("#")),
                'o' | 'x' => no_precision().and_then(|()| no_flag(",")),
                'e' => no_flag(","),
                'g' => no_flag("#"),
                'a' => no_flag("(,"),
                _ => Ok(()),
            }
        }
    }
}
