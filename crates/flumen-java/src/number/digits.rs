//! `Character.digit`: the digits of all scripts (Unicode 13, as in JDK 17), for the 16-bit characters that `parseInt` looks at.

/// The zeros of the scripts; the digits 1 to 9 follow each.
const ZEROS: [u16; 37] = [
    0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

/// The value of a digit in this radix (2 to 36): any script's decimal digits, ASCII and full-width letters. Digits beyond 16 bits
/// do not count: Java reads such characters by halves.
pub fn digit(c: char, radix: u32) -> Option<u32> {
    let value = match c {
        '0'..='9' => u32::from(c) - 0x30,
        'a'..='z' => u32::from(c) - 0x61 + 10,
        'A'..='Z' => u32::from(c) - 0x41 + 10,
        'ａ'..='ｚ' => u32::from(c) - 0xFF41 + 10,
        'Ａ'..='Ｚ' => u32::from(c) - 0xFF21 + 10,
        _ => {
            let unit = u16::try_from(u32::from(c)).ok()?;
            let zero = ZEROS[ZEROS.partition_point(|z| *z <= unit).checked_sub(1)?];
            let value = u32::from(unit - zero);
            if value > 9 {
                return None;
            }
            value
        }
    };
    (value < radix).then_some(value)
}
