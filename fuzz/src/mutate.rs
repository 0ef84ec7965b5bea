//! Changes seeds at random, always the same way for the same number.

/// Pieces that mean something to one of the parsers.
const PIECES: [&str; 34] = [
    "${",
    "}",
    ":-",
    "$$",
    "\\u",
    "\\uD83D",
    "\\\n",
    "=",
    ":",
    "#",
    "!",
    "%{",
    "%[",
    "%",
    "[",
    "]",
    "(?",
    "(?<",
    "\\p{",
    "{2147483647}",
    "{1,99999}",
    "*+",
    "&&",
    "''",
    "yyyyyyyyyyyy",
    "ZZZZ",
    "\0",
    "\u{FEFF}",
    "\r\n",
    "\u{2028}",
    "(((((((((",
    "env:",
    ".type = ",
    "0x7fffffff",
];
/// Numbers that counts and lengths like to be.
const NUMBERS: [u32; 8] = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff];

/// Makes inputs of seeds.
#[derive(Debug)]
pub struct Mutator<'a> {
    rng: fastrand::Rng,
    seeds: &'a [Vec<u8>],
    max_len: usize,
}

impl<'a> Mutator<'a> {
    /// A mutator of these seeds; inputs have at most `max_len` bytes.
    ///
    /// # Panics
    /// There is no seed.
    pub fn new(seed: u64, seeds: &'a [Vec<u8>], max_len: usize) -> Self {
        assert!(!seeds.is_empty(), "a mutator changes seeds");
        Self { rng: fastrand::Rng::with_seed(seed), seeds, max_len }
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seeds[self.rng.usize(..self.seeds.len())].clone();
        for _ in 0..self.rng.usize(1..8) {
            self.change(&mut input);
        }
        input.truncate(self.max_len);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.rng.usize(..=input.len());
        let end = (at + self.rng.usize(..32)).min(input.len());
        match self.rng.u8(..10) {
            0 if at < input.len() => input[at] ^= 1 << self.rng.u8(..8),
            1 if at < input.len() => input[at] = self.rng.u8(..),
            2 => input.truncate(at),
            3 => _ = input.drain(at..end),
            4 => {
                let copy = input[at..end].to_vec();
                let to = self.rng.usize(..=input.len());
                input.splice(to..to, copy);
            }
            5 => {
                let piece = PIECES[self.rng.usize(..PIECES.len())];
                input.splice(at..at, piece.bytes());
            }
            6 => {
                let number = NUMBERS[self.rng.usize(..NUMBERS.len())].to_be_bytes();
                let end = (at + 4).min(input.len());
                input.splice(at..end, number);
            }
            7 => {
                // The head of one seed and the tail of another.
                let other = &self.seeds[self.rng.usize(..self.seeds.len())];
                let from = self.rng.usize(..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            8 => {
                let n = self.rng.usize(..64);
                let byte = self.rng.u8(..);
                input.splice(at..at, std::iter::repeat_n(byte, n));
            }
            _ => {
                let piece = PIECES[self.rng.usize(..PIECES.len())];
                let n = self.rng.usize(..40);
                input.splice(at..at, piece.repeat(n).into_bytes());
            }
        }
    }
}
