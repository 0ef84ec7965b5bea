//! The events that the tool makes: the same from the same seed, here without it.

use flumen_core::event::{Batch, Headers};

const WORDS: [&str; 23] = [
    "alpha",
    "b c",
    "",
    "tab\tquote\"",
    "zażółć",
    "日本",
    "😀",
    "x=y;z",
    "back\\slash",
    "Ελληνικά",
    "журнал",
    "עברית",
    "العربية",
    "हिन्दी",
    "বাংলা",
    "தமிழ்",
    "ไทย",
    "ქართული",
    "հայերեն",
    "አማርኛ",
    "한국어",
    "ភាសាខ្មែរ",
    "e\u{301}",
];
const NAMES: [&str; 4] = ["h0", "имя", "名前", "اسم"];

/// `java.util.Random`, by its documentation: a linear congruential generator of 48 bits.
struct Random(u64);

impl Random {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;

    fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ Self::MULTIPLIER) & ((1 << 48) - 1))
    }

    fn bits(&mut self, n: u32) -> i32 {
        self.0 = (self.0.wrapping_mul(Self::MULTIPLIER) + 0xB) & ((1 << 48) - 1);
        ((self.0 >> (48 - n)) as u32).cast_signed()
    }

    fn below(&mut self, bound: i32) -> usize {
        let mut r = self.bits(31);
        let most = bound - 1;
        if bound & most == 0 {
            return ((i64::from(bound) * i64::from(r)) >> 31) as usize;
        }
        let mut u = r;
        loop {
            r = u % bound;
            if u.checked_sub(r).and_then(|floor| floor.checked_add(most)).is_some() {
                return r as usize;
            }
            u = self.bits(31);
        }
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len() as i32)]
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(n + 3);
        while bytes.len() < n {
            bytes.extend_from_slice(&self.bits(32).to_le_bytes());
        }
        bytes.truncate(n);
        bytes
    }
}

/// The first `n` events of a seed.
pub(crate) fn events(seed: i64, n: usize) -> Batch {
    let mut batch = Batch::with_capacity(n);
    for i in 0..n {
        let mut random = Random::new(seed * 1_000_003 + i as i64);
        let mut headers = Vec::new();
        if i % 11 != 7 {
            headers.push(("n", i.to_string()));
            for name in &NAMES[..random.below(4)] {
                headers.push((name, random.word().to_owned()));
            }
        }
        let body = match random.below(6) {
            0 => Vec::new(),
            1 => format!("event {i}").into_bytes(),
            2 => format!("línea {i} {}", random.word()).into_bytes(),
            3 => {
                let n = 1 + random.below(5000);
                random.bytes(n)
            }
            _ => {
                let n = 1 + random.below(200);
                random.bytes(n)
            }
        };
        batch.push(headers.into_iter().collect::<Headers>(), body);
    }
    batch
}
