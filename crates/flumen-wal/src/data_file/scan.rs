//! Reads a data file from front to back: records, no-ops, and gaps where neither is.

use crate::{
    data_file::Cipher,
    disk::{DiskFile, fill},
    record::{
        FRAME_LEN, Frame, HEADER_LEN, OP_END, OP_NOOP, OP_RECORD, PAD_LEN, Record, decode, decode_checked,
        frame, len_by_itself, pad_checks,
        resync::{MIN_PAYLOAD, PROBE_LEN, candidate, candidate_by},
        v2,
    },
};
use std::{io, sync::Arc};

/// How much is read at once: what stays in a core's cache until it has been looked at.
const READ: usize = 256 << 10;
/// How much is looked at to tell what damage is.
const WINDOW: usize = 1 << 20;
/// What is read at once where the disk cannot read a window.
const PAGE: usize = 4096;
/// The longest run of zeros at the end of a record of Java's that is natural.
const NATURAL_ZEROS: usize = 8;
/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;
/// No-ops in a row that are stepped over to see whether something stands behind them.
const MAX_NOOPS: usize = 4096;
/// Bytes of candidates that one search behind damage decodes before it gives up on long ones.
const SEARCH_BUDGET: u64 = 1 << 30;

/// What stands at a place of the file.
#[derive(Debug)]
pub enum Item<'a> {
    /// A record that checks.
    Record {
        /// Its first byte.
        at: u64,
        /// The first byte behind it.
        end: u64,
        /// What it says.
        record: Record<'a>,
        /// Its payload in clear, which `record` lies in.
        payload: &'a [u8],
    },
    /// Bytes to skip.
    Noop,
    /// No record, up to the next one or to the end of the file.
    Gap(Gap),
}

/// Bytes that are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// First byte.
    pub at: u64,
    /// First byte behind.
    pub end: u64,
    /// What it looks like.
    pub kind: GapKind,
    /// Whether the disk could not read some of it.
    pub unreadable: bool,
}

/// What a gap looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapKind {
    /// Fill and nothing else: nothing was written here.
    Fill,
    /// Zeros and nothing else.
    Zeros,
    /// A record of which a part was never written: that is fill, zeros, or behind the end of the file.
    Torn,
    /// Anything else.
    Damaged,
}

/// Reads one file. Memory: a window, or the longest record where that is more.
#[derive(Debug)]
pub struct Scanner {
    file: Arc<dyn DiskFile>,
    len: u64,
    at: u64,
    version_2: bool,
    cipher: Option<Arc<Cipher>>,
    /// How much is read at once.
    read: usize,
    /// What reads begin and end on, in the file and in memory; a power of two.
    block: usize,
    /// What was read, behind `skip` other bytes.
    window: Vec<u8>,
    skip: usize,
    window_at: u64,
    /// Places of pages that could not be read, in this window.
    unreadable: Vec<u64>,
    /// A payload after decryption.
    plain: Vec<u8>,
    /// Whether a record of ours was read: they end with a checksum, Java's with zeros.
    ours: bool,
}

impl Scanner {
    /// Reads from `at` on, where a record must begin. `cipher`: that of an encrypted file.
    ///
    /// # Errors
    /// The length of the file cannot be told.
    pub fn new(file: Arc<dyn DiskFile>, at: u64, cipher: Option<Arc<Cipher>>) -> io::Result<Self> {
        let len = file.len()?.min(u64::from(u32::MAX));
        let (window, plain, unreadable) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            file,
            len,
            at,
            version_2: false,
            cipher,
            read: READ,
            block: 1,
            window,
            skip: 0,
            window_at: 0,
            unreadable,
            plain,
            ours: false,
        })
    }

    /// Reads records of version 2.
    #[must_use]
    pub fn version_2(mut self) -> Self {
        self.version_2 = true;
        self.at = self.at.max(u64::from(v2::FILE_HEADER_LEN));
        self
    }

    /// Reads so much at once, in whole blocks: what lies in one read can be kept as it is, by [`Scanner::holds_next`].
    #[must_use]
    pub(crate) fn in_blocks(self, read: usize, block: usize) -> Self {
        Self { read, block, ..self }
    }

    /// Whether the next item is a record, or a no-op with a mark, that has been read already: [`Scanner::next_item`] then gives
    /// it without reading.
    pub(crate) fn holds_next(&self) -> bool {
        let held = self.window_at + self.held_len() as u64;
        let head = (self.at + PAD_LEN as u64).min(held);
        if self.at < self.window_at || head < self.at {
            return false;
        }
        let bytes = self.bytes(self.at, head);
        match frame(bytes) {
            Frame::Record(len) => self.at + FRAME_LEN as u64 + u64::from(len) <= held,
            Frame::Noop(_) => pad_checks(bytes) == Some(true),
            Frame::End | Frame::Unknown => false,
        }
    }

    /// What was read last, and where in it a place of the file is.
    pub(crate) fn into_window(self) -> (Vec<u8>, impl Fn(u64) -> usize) {
        let (skip, from) = (self.skip, self.window_at);
        (self.window, move |at| skip + (at - from) as usize)
    }

    /// Length of the file, as far as pointers reach.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Where the next item begins.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Leaves out what is left of the file.
    pub fn skip_to_end(&mut self) {
        self.at = self.len;
    }

    /// The next item. `None`: the end of the file.
    ///
    /// # Errors
    /// The disk fails in a way that is not about single pages.
    pub fn next_item(&mut self) -> io::Result<Option<Item<'_>>> {
        if self.at >= self.len {
            return Ok(None);
        }
        let at = self.at;
        if self.version_2 {
            return self.next_version_2();
        }
        if let Some((end, ours)) = self.record_end(at)? {
            self.at = end;
            self.ours |= ours;
            // Read a second time, as the borrow checker wants it so; the checksum, which is the cost, only once.
            let payload = self.payload(at, end);
            return match decode_checked(payload) {
                Ok(record) => Ok(Some(Item::Record { at, end, record, payload })),
                Err(_) => Err(io::Error::other("a record changed while it was read")),
            };
        }
        if let Some(end) = self.noop_end(at)? {
            self.at = end;
            return Ok(Some(Item::Noop));
        }
        let gap = self.gap(at)?;
        self.at = gap.end;
        Ok(Some(Item::Gap(gap)))
    }

    fn next_version_2(&mut self) -> io::Result<Option<Item<'_>>> {
        let at = self.at;
        // No length is known before the record is decoded: what is there, or whole windows, doubled until it fits.
        let held = (self.window_at + self.held_len() as u64).saturating_sub(at.max(self.window_at));
        let mut want = if held < READ as u64 { WINDOW as u64 } else { held };
        loop {
            let until = (at + want).min(self.len);
            self.load(at, until)?;
            let bytes = self.bytes(at, until);
            let decoded = if bytes[0] == OP_RECORD { v2::decode(&bytes[1..]).ok() } else { None };
            if let Some((_, n)) = decoded {
                let end = at + 1 + n as u64;
                self.at = end;
                let payload = self.bytes(at + 1, end);
                let record = v2::decode(payload).ok();
                return Ok(record.map(|(record, _)| Item::Record { at, end, record, payload }));
            }
            if bytes[0] != OP_RECORD || until == self.len {
                let kind = self.kind(at, until, until);
                let unreadable = !self.unreadable.is_empty();
                self.at = self.len;
                return Ok(Some(Item::Gap(Gap { at, end: self.len, kind, unreadable })));
            }
            want *= 2;
        }
    }

    /// Where a record that checks ends, if one begins here, and whether it is one of ours.
    fn record_end(&mut self, at: u64) -> io::Result<Option<(u64, bool)>> {
        let head = (at + FRAME_LEN as u64).min(self.len);
        self.load(at, head)?;
        let Frame::Record(len) = frame(self.bytes(at, head)) else { return Ok(None) };
        let end = at + FRAME_LEN as u64 + u64::from(len);
        if len < MIN_PAYLOAD || end > self.len {
            return Ok(None);
        }
        self.load(at, end)?;
        if self.cipher.is_some() {
            let mut plain = std::mem::take(&mut self.plain);
            let stored = self.bytes(at + FRAME_LEN as u64, end);
            let good = self.cipher.as_ref().is_none_or(|cipher| cipher.open(at, stored, &mut plain));
            self.plain = plain;
            if !good {
                return Ok(None);
            }
        }
        Ok(decode(self.payload(at, end)).ok().map(|record| (end, record.footer.is_ours())))
    }

    /// The payload of a record that is in the window, in clear.
    fn payload(&self, at: u64, end: u64) -> &[u8] {
        if self.cipher.is_some() { &self.plain } else { self.bytes(at + FRAME_LEN as u64, end) }
    }

    /// Where a no-op ends, if one begins here. One without a mark has no checksum: its length is believed where it covers a
    /// record exactly, or where something begins behind it.
    fn noop_end(&mut self, at: u64) -> io::Result<Option<u64>> {
        let head = (at + 6).min(self.len);
        self.load(at, head)?;
        let bytes = self.bytes(at, head);
        let Frame::Noop(len) = frame(bytes) else { return Ok(None) };
        let end = at + FRAME_LEN as u64 + u64::from(len);
        // Zeros would be no-ops of no length: five of them are one, more are a stretch that was never written.
        if end > self.len || (len == 0 && bytes.get(5) == Some(&0)) {
            return Ok(None);
        }
        let head = (at + PAD_LEN as u64).min(self.len);
        self.load(at, head)?;
        if let Some(checks) = pad_checks(self.bytes(at, head)) {
            return Ok(checks.then_some(end));
        }
        Ok(self.begins(end)?.then_some(end))
    }

    /// Whether a record or fill begins here, or the file ends; no-ops on the way are stepped over.
    fn begins(&mut self, mut at: u64) -> io::Result<bool> {
        for _ in 0..MAX_NOOPS {
            if at == self.len {
                return Ok(true);
            }
            let head = (at + FRAME_LEN as u64).min(self.len);
            self.load(at, head)?;
            match frame(self.bytes(at, head)) {
                Frame::End => return Ok(true),
                Frame::Record(_) => return Ok(self.record_end(at)?.is_some()),
                // One of no length is a zero among others.
                Frame::Noop(len) if len > 0 && at + FRAME_LEN as u64 + u64::from(len) <= self.len => {
                    at += FRAME_LEN as u64 + u64::from(len);
                }
                Frame::Noop(_) | Frame::Unknown => return Ok(false),
            }
        }
        Ok(false)
    }

    fn gap(&mut self, at: u64) -> io::Result<Gap> {
        // A record of ours that is whole but for its frame was written whole.
        let whole = self.whole_end(at)?;
        let framed = if whole.is_none() { self.framed_end(at)? } else { None };
        let end = match whole.or(framed) {
            Some(end) => end,
            None => self.search(at)?,
        };
        // What a long gap is full of does not matter beyond its first window.
        let looked = end.min(at + WINDOW as u64);
        self.load(at, looked)?;
        let mut kind = self.kind(at, looked, end);
        let unreadable = self.unreadable.iter().any(|page| *page < end && page + PAGE as u64 > at);
        if unreadable || whole.is_some() {
            kind = GapKind::Damaged;
        }
        Ok(Gap { at, end, kind, unreadable })
    }

    /// Where a record of ours ends of which only the frame is damaged.
    fn whole_end(&mut self, at: u64) -> io::Result<Option<u64>> {
        let head = (at + WINDOW as u64).min(self.len);
        self.load(at, head)?;
        let bytes = self.bytes(at, head);
        let Some(payload) = bytes.get(FRAME_LEN..).filter(|_| bytes[0] != OP_END && bytes[0] != OP_NOOP)
        else {
            return Ok(None);
        };
        let len = match &self.cipher {
            None => len_by_itself(payload),
            Some(cipher) => {
                let mut plain = payload.to_vec();
                cipher.peek(at, &mut plain);
                len_by_itself(&plain).map(|len| len + cipher.overhead())
            }
        };
        Ok(len.map(|len| at + FRAME_LEN as u64 + len as u64).filter(|end| *end <= self.len))
    }

    /// Where a damaged record ends whose frame is whole: something begins behind it. What a body contains is then not taken for
    /// records.
    fn framed_end(&mut self, at: u64) -> io::Result<Option<u64>> {
        let head = (at + FRAME_LEN as u64).min(self.len);
        self.load(at, head)?;
        let Frame::Record(len) = frame(self.bytes(at, head)) else { return Ok(None) };
        let end = at + FRAME_LEN as u64 + u64::from(len);
        if len < MIN_PAYLOAD || end >= self.len {
            return Ok(None);
        }
        // Fill proves nothing: it is also behind a length that was never written whole.
        self.load(end, end + 1)?;
        let fills = self.bytes(end, end + 1)[0] == OP_END;
        Ok((!fills && self.begins(end)?).then_some(end))
    }

    /// The next record behind damage, or the end of the file.
    fn search(&mut self, at: u64) -> io::Result<u64> {
        let cipher = self.cipher.clone();
        let mut from = at + 1;
        let mut budget = SEARCH_BUDGET;
        while from + (PROBE_LEN as u64) <= self.len {
            let until = (from + WINDOW as u64).min(self.len);
            self.load(from, until)?;
            let bytes = self.bytes(from, until);
            let found = match &cipher {
                None => candidate(bytes, 0, &[0; HEADER_LEN]),
                Some(cipher) => match cipher.fixed_mask() {
                    Some(mask) => candidate(bytes, 0, mask),
                    None => candidate_by(bytes, 0, &mut |place| cipher.mask(from + place as u64)),
                },
            };
            let Some(found) = found else {
                from = until - (PROBE_LEN as u64 - 1);
                if until == self.len {
                    break;
                }
                continue;
            };
            from += found as u64;
            let length = match frame(&bytes[found..]) {
                Frame::Record(len) => u64::from(len),
                _ => 0,
            };
            budget = budget.saturating_sub(length);
            if (budget > 0 || length < WINDOW as u64) && self.record_end(from)?.is_some() {
                return Ok(from);
            }
            from += 1;
        }
        Ok(self.len)
    }

    /// What the bytes from `at` on look like, of which those up to `looked` are in the window.
    fn kind(&self, at: u64, looked: u64, end: u64) -> GapKind {
        let bytes = self.bytes(at, looked);
        let natural = if self.ours || self.cipher.is_some() { 0 } else { NATURAL_ZEROS };
        let all = |byte: u8| bytes.iter().all(|one| *one == byte);
        if all(OP_END) {
            return if looked == end || self.rest_is(OP_END, looked, end) {
                GapKind::Fill
            } else {
                GapKind::Damaged
            };
        }
        if all(0) {
            return if looked == end || self.rest_is(0, looked, end) {
                GapKind::Zeros
            } else {
                GapKind::Damaged
            };
        }
        let Frame::Record(len) = frame(bytes) else {
            // A no-op that Java's integrity tool made of a record that was cut.
            if let Frame::Noop(len) = frame(bytes)
                && at + FRAME_LEN as u64 + u64::from(len) > self.len
                && end == self.len
            {
                return GapKind::Torn;
            }
            // Too short for a frame at the end of a file: a record that was just begun.
            let begun = bytes[0] == OP_RECORD && (bytes.len() < FRAME_LEN || tail(&bytes[1..], natural));
            let unwritten = starts_unwritten(bytes, at) || missing_sector(bytes, at);
            return if begun || unwritten { GapKind::Torn } else { GapKind::Damaged };
        };
        let record_end = at + FRAME_LEN as u64 + u64::from(len);
        // A length that no record has was itself not written whole: what would follow at least is looked at.
        let shortest = at + FRAME_LEN as u64 + u64::from(MIN_PAYLOAD);
        let record = &bytes[..(record_end.max(shortest).min(looked) - at) as usize];
        let cut = record_end > end && (end == self.len || self.version_2);
        // Java leaves fill behind its last record, and no zeros.
        let beyond = &bytes[record.len()..];
        let zeros = end == self.len && !beyond.is_empty() && beyond.iter().all(|byte| *byte == 0);
        if cut || zeros || tail(record, natural) || missing_sector(record, at) {
            GapKind::Torn
        } else {
            GapKind::Damaged
        }
    }

    /// Whether nothing but this byte follows, read piece by piece.
    fn rest_is(&self, byte: u8, from: u64, end: u64) -> bool {
        let mut piece = vec![0; WINDOW.min((end - from) as usize)];
        let mut at = from;
        while at < end {
            let n = piece.len().min((end - at) as usize);
            match fill(&*self.file, at, &mut piece[..n]) {
                Ok(read) if read == n && piece[..n].iter().all(|one| *one == byte) => at += n as u64,
                _ => return false,
            }
        }
        true
    }

    fn bytes(&self, at: u64, end: u64) -> &[u8] {
        let from = |at: u64| self.skip + (at - self.window_at) as usize;
        &self.window[from(at)..from(end)]
    }

    /// Bytes that were read and are there.
    fn held_len(&self) -> usize {
        self.window.len() - self.skip
    }

    /// Has the window hold these bytes, which lie in the file.
    fn load(&mut self, at: u64, end: u64) -> io::Result<()> {
        let held = self.window_at..self.window_at + self.held_len() as u64;
        if held.start <= at && end <= held.end {
            return Ok(());
        }
        let at = at - at % self.block as u64;
        let until = end.max((at + self.read as u64).min(self.len));
        let len = usize::try_from(until - at).map_err(io::Error::other)?;
        let whole = len.next_multiple_of(self.block);
        let mut window = std::mem::take(&mut self.window);
        if window.capacity() < whole + self.block {
            window = Vec::with_capacity(whole + self.block);
        }
        self.skip = if self.block > 1 { window.as_ptr().align_offset(self.block) } else { 0 };
        window.resize(self.skip + whole, 0);
        self.unreadable.clear();
        let n_read = match fill(&*self.file, at, &mut window[self.skip..]) {
            Ok(n_read) => n_read,
            Err(_) => self.load_pages(at, &mut window[self.skip..])?,
        };
        window.truncate(self.skip + len);
        if n_read < len {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was read",
            ));
        }
        self.window = window;
        self.window_at = at;
        Ok(())
    }

    /// Reads what can be read, page by page. If that is nothing, the disk is gone and not a page of it.
    fn load_pages(&mut self, at: u64, window: &mut [u8]) -> io::Result<usize> {
        let mut any = false;
        let mut last = None;
        let mut done = 0;
        while done < window.len() {
            let place = at + done as u64;
            let n = (PAGE - (place % PAGE as u64) as usize).min(window.len() - done);
            match fill(&*self.file, place, &mut window[done..done + n]) {
                Ok(_) => any = true,
                Err(error) => {
                    window[done..done + n].fill(0xff);
                    self.unreadable.push(place);
                    last = Some(error);
                }
            }
            done += n;
        }
        match last {
            Some(error) if !any => Err(error),
            _ => Ok(done),
        }
    }
}

/// Whether a record ends with bytes that were never written.
fn tail(record: &[u8], natural: usize) -> bool {
    let zeros = record.iter().rev().take_while(|byte| **byte == 0).count();
    record.last() == Some(&OP_END) || zeros > natural
}

/// Whether bytes begin with some that were never written, up to the end of a sector: no record begins like that.
fn starts_unwritten(bytes: &[u8], at: u64) -> bool {
    let first = ((SECTOR - at % SECTOR) as usize).min(bytes.len());
    let head = &bytes[..first];
    head.iter().all(|byte| *byte == 0) || head.iter().all(|byte| *byte == OP_END)
}

/// Whether a sector of the file, or the part of one that the record covers, was never written.
fn missing_sector(record: &[u8], at: u64) -> bool {
    let first = (SECTOR - at % SECTOR) as usize;
    let never = |part: &[u8]| {
        part.len() > 64 && (part.iter().all(|byte| *byte == 0) || part.iter().all(|byte| *byte == OP_END))
    };
    let (head, rest) = record.split_at(first.min(record.len()));
    never(head) || rest.chunks(SECTOR as usize).any(never)
}
