//! `\Q…\E` written out as escapes, before parsing. Positions in errors are those of the text written out, as in Java.

const BACKSLASH: u32 = b'\\' as u32;

/// The pattern with every quoted part escaped.
pub(super) fn write_out(chars: &[u32]) -> Vec<u32> {
    let end = chars.len();
    let mut i = 0;
    while i + 1 < end && !(chars[i] == BACKSLASH && chars[i + 1] == u32::from(b'Q')) {
        i += if chars[i] == BACKSLASH { 2 } else { 1 };
    }
    if i + 1 >= end {
        return chars.to_vec();
    }
    let mut out = chars[..i].to_vec();
    i += 2;
    let (mut quoted, mut first) = (true, true);
    while i < end {
        let c = chars[i];
        let follower = chars.get(i + 1).copied().unwrap_or(0);
        i += 1;
        let letter = char::from_u32(c).unwrap_or('a');
        if !letter.is_ascii() || letter.is_ascii_alphabetic() {
            out.push(c);
        } else if letter.is_ascii_digit() {
            // After an escape such as `\x` the digit must not become part of it.
            if first {
                out.extend("\\x3".chars().map(u32::from));
            }
            out.push(c);
        } else if c != BACKSLASH {
            if quoted {
                out.push(BACKSLASH);
            }
            out.push(c);
        } else if quoted {
            if follower == u32::from(b'E') {
                i += 1;
                quoted = false;
            } else {
                out.extend([BACKSLASH, BACKSLASH]);
            }
        } else if follower == u32::from(b'Q') {
            i += 1;
            quoted = true;
            first = true;
            continue;
        } else {
            out.push(c);
            if i < end {
                out.push(chars[i]);
                i += 1;
            }
        }
        first = false;
    }
    out
}
