//! How content is recognised again: the hash of a file's head, and of what lies before a position.

/// Bytes of a file's head that are hashed.
pub(super) const HEAD_BYTES: usize = 1024;
/// Bytes of a file's head that tell whether it is worth to compare more.
pub(super) const START_BYTES: usize = 16;
/// Bytes before a position that are hashed.
pub(super) const TAIL_BYTES: usize = 256;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits (draft-eastlake-fnv): hashes are stored, so they must never change.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    go_on(BASIS, bytes)
}

fn go_on(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The hash of a file's first bytes, as far as they have been read as lines, up to [`HEAD_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) len: u16,
    pub(super) hash: u64,
}

impl Head {
    pub(super) const NONE: Self = Self { len: 0, hash: BASIS };

    /// Takes in bytes that lie at `offset`, where they go on from what is hashed.
    pub(super) fn extend(&mut self, offset: u64, bytes: &[u8]) {
        let len = usize::from(self.len);
        let Some(skip) = (self.len as u64).checked_sub(offset).and_then(|skip| usize::try_from(skip).ok())
        else {
            return;
        };
        if len < HEAD_BYTES && skip < bytes.len() {
            let new = &bytes[skip..bytes.len().min(skip + HEAD_BYTES - len)];
            self.hash = go_on(self.hash, new);
            self.len += new.len() as u16; // at most HEAD_BYTES
        }
    }

    /// Whether content begins as this. False where nothing is known.
    pub(super) fn begins(&self, content: &[u8]) -> bool {
        let len = usize::from(self.len);
        len > 0 && content.len() >= len && hash(&content[..len]) == self.hash
    }
}

/// A position, and what lies before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// In bytes from the start.
    pub(super) pos: u64,
    /// The hash of the [`TAIL_BYTES`] before it, or of all that is there; `None` where it is not known.
    pub(super) tail: Option<u64>,
}

impl Mark {
    /// How many bytes before the position tell whether it is still the same content.
    pub(super) fn tail_len(&self) -> usize {
        if self.tail.is_some() { self.pos.min(TAIL_BYTES as u64) as usize } else { 0 }
    }

    /// The mark at `pos`, of which `before` ends there.
    pub(super) fn at(pos: u64, before: &[u8]) -> Self {
        let len = pos.min(TAIL_BYTES as u64) as usize;
        let tail = before.len().checked_sub(len).map(|from| hash(&before[from..]));
        Self { pos, tail }
    }
}

/// Marks of how far a file was read, all with their hashes, dense where they are young: they tell whether other content, which
/// is shorter, is the beginning of what was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail(Vec<Mark>);

/// Marks that are kept, at most.
const MOST_MARKS: usize = 64;
/// Bytes between two marks of one read.
const STEP_BYTES: u64 = 16 << 10;

impl Trail {
    /// Notes that what ends with `before` was read up to `pos`. `is_last`: what was read at a time ends here.
    pub(super) fn note(&mut self, pos: u64, before: &[u8], is_last: bool) {
        let last = self.0.last().map_or(0, |mark| mark.pos);
        if !is_last && pos > HEAD_BYTES as u64 && pos < last + STEP_BYTES {
            return;
        }
        if self.0.len() >= MOST_MARKS {
            let mut nth = 0;
            self.0.retain(|_| {
                nth += 1;
                nth > MOST_MARKS / 2 || nth % 2 == 0
            });
        }
        self.0.push(Mark::at(pos, before));
    }

    /// One mark, where its hash is known.
    pub(super) fn from(mark: Mark) -> Self {
        Self(mark.tail.map(|_| mark).into_iter().collect())
    }

    /// The last mark that content of so many bytes has.
    pub(super) fn within(&self, len: u64) -> Option<Mark> {
        self.0.iter().rev().find(|mark| mark.pos <= len).copied()
    }
}
