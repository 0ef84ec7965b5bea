//! Reads the next lines of a file.

use super::{
    Piece, Tailer,
    copies::{Origin, PATIENCE},
};
use crate::sources::taildir::{
    disk::Stat,
    file::{Ack, FIRST_READ, Handle, TailFile},
    group::headers_of,
    lines::{End, Span},
    mark::{HEAD_BYTES, Mark, START_BYTES, TAIL_BYTES, Trail, hash},
    packed::{GZIP, Packed},
};
use bytes::Bytes;
use flumen_core::event::{Batch, Headers, Text};
use std::{io, time::Duration};
use tokio::time::Instant;

/// What is read of a file at a time, at most, while its lines are short.
const LARGEST_READ: usize = 4 << 20;
/// What is read of a file before the others have their turn.
const TURN_BYTES: u64 = 4 << 20;
/// Unpacked bytes that are passed over at a time.
const SKIP: usize = 8 << 20;
/// How often, before the other files have their turn.
const SKIPS_A_TURN: usize = 4;
/// A compressed file that cannot be unpacked may still be written, so long after its last change.
const BEING_WRITTEN: Duration = Duration::from_secs(5);
/// How soon a file that may be a copy is looked at again, at the earliest.
const HELD_LOOK: Duration = Duration::from_secs(1);

const BYTE_OFFSET: Text = Text::from_static("byteoffset");

/// Text of a file.
struct Found {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read before.
    old: usize,
    /// Nothing was behind it.
    all: bool,
    /// And nothing will come.
    end: End,
}

impl Tailer {
    /// The next lines of a file, if there are any. Puts it back into a queue where there are more.
    pub(super) fn read(&mut self, file: &mut TailFile, now: Instant) -> io::Result<Option<Piece>> {
        let Some(stat) = self.open_file(file)? else { return Ok(None) };
        file.note(&stat, now);
        let over = self.is_over(file, now);
        if !file.is_packed() && stat.len < file.read.pos {
            self.restart(file, "it is shorter than before");
        }
        let piece = match self.read_open(file, &stat, over, now) {
            Ok(piece) => piece,
            Err(error) => {
                file.close();
                if file.is_packed() && now >= file.changed_at + BEING_WRITTEN {
                    // Only a change can mend it.
                    file.seen = Some((stat.len, stat.mtime_ns));
                }
                return Err(error);
            }
        };
        if piece.is_none() && over && !file.queued {
            (file.idle, file.trail) = (true, Trail::default());
            file.close();
        }
        Ok(piece)
    }

    fn read_open(
        &mut self,
        file: &mut TailFile,
        stat: &Stat,
        over: bool,
        now: Instant,
    ) -> io::Result<Option<Piece>> {
        let mut want = file.read_size;
        let epoch = file.epoch;
        loop {
            let end = match (over, file.flush) {
                (true, _) => End::All,
                (false, true) => End::Events,
                (false, false) => End::Open,
            };
            let found = if file.is_packed() {
                self.fill_packed(file, want, now)?
            } else {
                self.fill(file, stat, want, end)?
            };
            let Some(found) = found else {
                // One more try, from the start.
                if file.epoch == epoch + 1 && file.read.tail.is_none() && file.handle.is_open() {
                    continue;
                }
                return Ok(None);
            };
            let text = &found.buffer[found.old..];
            if file.packed.is_none() && !text.is_empty() {
                let packed = self.setup.decompress && file.read.pos == 0 && text.starts_with(&GZIP);
                file.packed = Some(packed);
                if packed {
                    unpack(file);
                    continue;
                }
            }
            if file.read.pos == 0 && file.head.len == 0 && !text.is_empty() {
                match self.origin(file, text, now)? {
                    Origin::Own => file.held = false,
                    Origin::Perhaps => {
                        file.held = true;
                        file.close();
                        self.pending.insert(file.key, (file.changed_at + PATIENCE).max(now + HELD_LOOK));
                        return Ok(None);
                    }
                    Origin::Copy(at) => {
                        file.held = false;
                        self.adopt(file, at);
                        if file.is_packed() {
                            unpack(file);
                        }
                        continue;
                    }
                }
            }
            let mut spans = std::mem::take(&mut self.spans);
            let pending = self.setup.cutter.cut(text, found.end, &mut spans);
            if spans.is_empty() && !found.all && want < self.setup.cutter.enough() {
                // A line is longer than what was read.
                want = (want * 2).min(self.setup.cutter.enough());
                put_back(file, found.buffer);
                self.spans = spans;
                continue;
            }
            let piece = self.take(file, stat, found, &spans, pending, now);
            self.spans = spans;
            return Ok(piece);
        }
    }

    /// Opens the file where it is not. `None`: it is not there any more, or another one is.
    fn open_file(&mut self, file: &mut TailFile) -> io::Result<Option<Stat>> {
        if let Some(open) = file.handle.file() {
            return open.stat().map(Some);
        }
        let opened = match self.disk.open(&file.path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.setup.groups[file.group].distrust_cache();
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let stat = opened.stat()?;
        if (stat.dev, stat.ino) != file.id {
            self.setup.groups[file.group].distrust_cache();
            return Ok(None);
        }
        file.handle = Handle::Plain(opened);
        if file.is_packed() {
            unpack(file);
        }
        self.opened.push_back(file.key);
        self.close_some();
        Ok(Some(stat))
    }

    /// Closes the files that were opened first, where too many are open.
    fn close_some(&mut self) {
        for _ in 0..self.opened.len() {
            if self.opened.len() <= self.setup.max_open_files {
                return;
            }
            let Some(key) = self.opened.pop_front() else { return };
            match self.files.get_mut(&key) {
                // It would not be found again, or would have to be unpacked again.
                Some(file) if file.leaving.is_some() && file.handle.is_open() => self.opened.push_back(key),
                Some(file) if matches!(file.handle, Handle::Packed(_)) => self.opened.push_back(key),
                Some(file) => file.close(),
                None => {}
            }
        }
    }

    /// Reads what is there, up to `want` bytes, with what is before it. `None`: it is not what was read before.
    fn fill(&mut self, file: &mut TailFile, stat: &Stat, want: usize, end: End) -> io::Result<Option<Found>> {
        let old = file.read.pos.min(TAIL_BYTES as u64) as usize;
        let rest = usize::try_from(stat.len - file.read.pos).unwrap_or(usize::MAX);
        let size = old + rest.min(want);
        let from = file.read.pos - old as u64;
        let Some(open) = file.handle.file() else { return Ok(None) };
        let buffer = open.part(from, size)?;
        let same = match file.read.tail {
            Some(tail) => buffer.len() >= old && hash(&buffer[..old]) == tail,
            None => buffer.len() >= old,
        };
        if !same {
            self.restart(file, "its content is another one");
            return Ok(None);
        }
        let all = buffer.len() - old == rest || buffer.len() < size;
        Ok(Some(Found { buffer, old, all, end: if all { end } else { End::Open } }))
    }

    /// Content of a compressed file.
    fn fill_packed(&mut self, file: &mut TailFile, want: usize, now: Instant) -> io::Result<Option<Found>> {
        let young = now < file.changed_at + BEING_WRITTEN;
        let Handle::Packed(packed) = &mut file.handle else {
            return Err(io::Error::other("a compressed file is not open"));
        };
        let mut steps = 0;
        while packed.skip > 0 {
            if steps == SKIPS_A_TURN {
                file.queued = true;
                self.later.push_back(file.key);
                return Ok(None);
            }
            steps += 1;
            let step = usize::try_from(packed.skip).unwrap_or(SKIP).min(SKIP);
            packed.fill(step)?;
            let passed = packed.carry.len().min(step);
            if passed == 0 {
                // It has become shorter than what was read of it.
                return Ok(Some(Found { buffer: Vec::new(), old: 0, all: true, end: End::Open }));
            }
            packed.carry.drain(..passed);
            packed.skip -= passed as u64;
        }
        let all = match packed.fill(want) {
            Ok(all) => all,
            Err(error) if packed.carry.is_empty() || young => return Err(error),
            Err(error) => {
                self.tell_failure(file, &error);
                let Handle::Packed(packed) = &mut file.handle else { return Err(error) };
                let buffer = std::mem::take(&mut packed.carry);
                return Ok(Some(Found { buffer, old: 0, all: true, end: End::All }));
            }
        };
        let buffer = std::mem::take(&mut packed.carry);
        Ok(Some(Found { buffer, old: 0, all, end: if all { End::All } else { End::Open } }))
    }

    /// Makes batches of the events, as many as are due.
    fn take(
        &mut self,
        file: &mut TailFile,
        stat: &Stat,
        found: Found,
        spans: &[Span],
        pending: bool,
        now: Instant,
    ) -> Option<Piece> {
        let (batch_size, old) = (self.setup.batch_size, found.old);
        // A batch that is not full waits for what is read next.
        let due = if found.all || spans.len() < batch_size {
            spans.len()
        } else {
            spans.len() / batch_size * batch_size
        };
        let left =
            self.setup.max_batch_count.saturating_sub(file.turn_batches).saturating_mul(batch_size as u64);
        let spans = &spans[..due.min(usize::try_from(left).unwrap_or(usize::MAX))];
        let cut_short = spans.len() < due;
        let done = found.all && !cut_short;
        if !found.all && due < batch_size && file.read_size < LARGEST_READ {
            file.read_size *= 2;
        }
        let Some(last) = spans.last() else {
            put_back(file, found.buffer);
            self.exhausted(file, stat, done, pending, now);
            return None;
        };
        let base = file.read.pos;
        let headers = match &file.headers {
            Some(headers) => headers.clone(),
            None => file.headers.insert(self.headers(file)).clone(),
        };
        let consumed = last.next;
        file.head.extend(base, &found.buffer[old..old + consumed]);
        if base == 0 {
            file.start = found.buffer.get(..START_BYTES).map(hash);
        }
        let read = Mark::at(base + consumed as u64, &found.buffer[..old + consumed]);
        let bytes = Bytes::from(found.buffer);
        let mut parts = Vec::with_capacity(spans.len().div_ceil(batch_size));
        for spans in spans.chunks(batch_size) {
            let (batch, next) = self.batch(&bytes.slice(old..), base, spans, headers.clone());
            let pos = base + next as u64;
            let mark = if pos == read.pos { read } else { Mark { pos, tail: None } };
            if !file.is_packed() {
                self.note_trail(file, &bytes[..old + next], base, spans, pos == read.pos);
            }
            parts.push((batch, Ack { key: file.key, epoch: file.epoch, mark }));
        }
        file.read = read;
        file.turn_batches += parts.len() as u64;
        file.turn_bytes += consumed as u64;
        if let Handle::Packed(packed) = &mut file.handle {
            packed.carry = bytes[consumed..].to_vec();
        }
        if done {
            self.exhausted(file, stat, true, pending, now);
        } else {
            self.again(file);
        }
        Some(Piece { parts })
    }

    /// Notes where a batch ends, and in the first bytes of a file every line.
    fn note_trail(&self, file: &mut TailFile, text: &[u8], base: u64, spans: &[Span], is_last: bool) {
        let head = HEAD_BYTES as u64;
        let old = text.len() - spans.last().map_or(0, |last| last.next);
        for span in spans.iter().take_while(|span| base + span.next as u64 <= head) {
            file.trail.note(base + span.next as u64, &text[..old + span.next], false);
        }
        if let Some(last) = spans.last().filter(|last| base + last.next as u64 > head) {
            file.trail.note(base + last.next as u64, text, is_last);
        }
    }

    fn batch(&self, text: &Bytes, base: u64, spans: &[Span], headers: Headers) -> (Batch, usize) {
        let first = spans.first().map_or(0, |span| span.start);
        let next = spans.last().map_or(0, |span| span.next);
        let mut batch = Batch::with_capacity(spans.len());
        let set = batch.add_headers(headers);
        // Only what the batch holds, so that it does not seem to keep the rest in memory.
        let segment = batch.add_segment(text.slice(first..next));
        for span in spans {
            // A read is far below 4 GiB.
            batch.push_slice(set, segment, (span.start - first) as u32..(span.end - first) as u32);
        }
        if self.setup.byte_offset_header {
            let mut offsets = spans.iter().map(|span| base + span.start as u64);
            batch.edit_each(|_, own| own.set_fmt(BYTE_OFFSET, offsets.next().unwrap_or(base)));
        }
        (batch, next)
    }

    /// All that was there was looked at.
    fn exhausted(&mut self, file: &mut TailFile, stat: &Stat, done: bool, pending: bool, now: Instant) {
        if !done {
            return;
        }
        file.flush = false;
        file.read_size = FIRST_READ;
        file.seen = Some((stat.len, stat.mtime_ns));
        if pending {
            self.pending.insert(file.key, now + self.setup.multiline_timeout);
        } else {
            self.pending.remove(&file.key);
        }
        if file.is_packed() {
            file.close();
        } else if file.turn_bytes > 0
            && file.handle.file().and_then(|open| open.stat().ok()).is_some_and(|now| now.len > stat.len)
        {
            // It grows as fast as it is read.
            self.again(file);
        }
    }

    fn again(&mut self, file: &mut TailFile) {
        file.queued = true;
        if file.turn_batches >= self.setup.max_batch_count || file.turn_bytes >= TURN_BYTES {
            self.later.push_back(file.key);
        } else {
            self.queue.push_front(file.key);
        }
    }

    pub(super) fn headers(&self, file: &TailFile) -> Headers {
        headers_of(&self.setup.groups[file.group].headers, self.setup.file_header.as_ref(), &file.path)
    }
}

/// Keeps unpacked bytes for the next read.
fn put_back(file: &mut TailFile, buffer: Vec<u8>) {
    if let Handle::Packed(packed) = &mut file.handle {
        packed.carry = buffer;
    }
}

/// Reads the open file as a compressed one, from the position on.
fn unpack(file: &mut TailFile) {
    file.handle = match std::mem::replace(&mut file.handle, Handle::Closed) {
        Handle::Plain(open) => Handle::Packed(Box::new(Packed::new(open, file.read.pos))),
        Handle::Packed(packed) => Handle::Packed(Box::new(Packed::new(packed.into_file(), file.read.pos))),
        Handle::Closed => Handle::Closed,
    };
}
