//! How far a file of a folder was sent, as Java's spooling reader writes it down: an Avro data file with the file's path in front
//! and a position in each record, of which the last counts. So a client of either goes on where one of the other was stopped.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

const FOLDER: &str = ".flumespool";
const NAME: &str = ".flumespool-main.meta";
const MAGIC: &[u8] = b"Obj\x01";
const SCHEMA: &str = "{\"type\":\"record\",\"name\":\"TransferStateFileMeta\",\"namespace\":\"org.apache.flume.serialization\",\
                      \"fields\":[{\"name\":\"offset\",\"type\":\"long\"}]}";
const SYNC_BYTES: usize = 16;
/// A tracker that has grown to this is written anew with its last record.
const MOST_BYTES: usize = 64 << 10;
/// What Java may have written in a file of some gigabytes. A longer one is not read.
const MOST_READ: u64 = 256 << 20;

/// See the module.
#[derive(Debug)]
pub(super) struct Tracker {
    path: PathBuf,
    target: String,
    open: Option<(File, usize)>,
    sync: [u8; SYNC_BYTES],
}

impl Tracker {
    /// The tracker of a folder; its own folder is made where it is missing.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let own = folder.join(FOLDER);
        match fs::create_dir(&own) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Ok(Self { path: own.join(NAME), target: String::new(), open: None, sync: [0; SYNC_BYTES] })
    }

    /// Begins with a file: where to go on in it. What is written about another file does not count.
    pub(super) fn begin(&mut self, target: &Path) -> io::Result<u64> {
        self.target = target.to_string_lossy().into_owned();
        let offset = match fs::metadata(&self.path) {
            Ok(about) if about.len() <= MOST_READ => {
                let tracked = read(&fs::read(&self.path)?);
                tracked.filter(|(file, _)| *file == self.target).map_or(0, |(_, offset)| offset)
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => 0,
        };
        self.anew(offset)?;
        Ok(offset)
    }

    /// Notes how far the file was sent.
    pub(super) fn store(&mut self, offset: u64) -> io::Result<()> {
        let Some((file, written)) = self.open.as_mut().filter(|(_, written)| *written < MOST_BYTES) else {
            return self.anew(offset);
        };
        let record = block(offset, &self.sync);
        *written += record.len();
        file.write_all(&record)
    }

    /// The file is done.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.open = None;
        fs::remove_file(&self.path)
    }

    /// Writes all of it, with one record.
    fn anew(&mut self, offset: u64) -> io::Result<()> {
        self.sync.fill_with(|| fastrand::u8(..));
        let mut content = MAGIC.to_vec();
        put_long(2, &mut content);
        for (key, value) in [("avro.schema", SCHEMA), ("file", self.target.as_str())] {
            for text in [key, value] {
                put_long(i64::try_from(text.len()).unwrap_or(i64::MAX), &mut content);
                content.extend_from_slice(text.as_bytes());
            }
        }
        content.push(0);
        content.extend_from_slice(&self.sync);
        content.extend_from_slice(&block(offset, &self.sync));
        let part = self.path.with_extension("meta.tmp");
        let mut file = File::create(&part)?;
        file.write_all(&content)?;
        fs::rename(&part, &self.path)?;
        self.open = Some((file, content.len()));
        Ok(())
    }
}

/// A block of one record.
fn block(offset: u64, sync: &[u8; SYNC_BYTES]) -> Vec<u8> {
    let (mut record, mut out) = (Vec::new(), Vec::new());
    put_long(i64::try_from(offset).unwrap_or(i64::MAX), &mut record);
    put_long(1, &mut out);
    put_long(i64::try_from(record.len()).unwrap_or(i64::MAX), &mut out);
    out.extend_from_slice(&record);
    out.extend_from_slice(sync);
    out
}

/// The path, and the position of the last whole record; `None` where this is no tracker, or a file that a crash left empty.
fn read(content: &[u8]) -> Option<(String, u64)> {
    let mut rest = content.strip_prefix(MAGIC)?;
    let mut file = None;
    loop {
        let mut count = take_long(&mut rest)?;
        if count == 0 {
            break;
        }
        if count < 0 {
            take_long(&mut rest)?;
            count = count.checked_neg()?;
        }
        for _ in 0..count {
            let (key, value) = (take_bytes(&mut rest)?, take_bytes(&mut rest)?);
            if key == b"file" {
                file = Some(String::from_utf8_lossy(value).into_owned());
            }
        }
    }
    let sync;
    (sync, rest) = rest.split_at_checked(SYNC_BYTES)?;
    let mut offset = 0;
    while let Some((last, behind)) = take_block(rest, sync) {
        (offset, rest) = (last, behind);
    }
    Some((file?, offset))
}

/// The last record of the first block, and what is behind the block.
fn take_block<'a>(mut rest: &'a [u8], sync: &[u8]) -> Option<(u64, &'a [u8])> {
    let count = take_long(&mut rest)?;
    let mut records = take_bytes(&mut rest)?;
    let mut last = None;
    for _ in 0..count {
        last = Some(take_long(&mut records)?);
    }
    Some((u64::try_from(last?).ok()?, rest.strip_prefix(sync)?))
}

/// Avro's numbers: seven bits a byte, the lowest first, and the sign in the lowest of all.
fn put_long(number: i64, out: &mut Vec<u8>) {
    let mut bits = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while bits > 0x7f {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

fn take_long(rest: &mut &[u8]) -> Option<i64> {
    let mut bits = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        bits |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed());
        }
    }
    None
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take_long(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Java 1.11 wrote for /data/in/file1.log, at 5 and at 1000.
    fn of_java() -> Vec<u8> {
        let mut bytes = b"Obj\x01\x04\x16avro.schema\x90\x02".to_vec();
        bytes.extend_from_slice(SCHEMA.as_bytes());
        bytes.extend_from_slice(b"\x08file\x24/data/in/file1.log\x00");
        let sync = b"\xb6\x1b\xab\xac\x23\x64\xaa\xe5\xb7\x1f\x83\x63\xcc\xe0\xdc\x1d";
        for part in [&sync[..], b"\x02\x02\x0a", sync, b"\x02\x04\xd0\x0f", sync] {
            bytes.extend_from_slice(part);
        }
        bytes
    }

    #[test]
    fn the_last_whole_record_of_javas_tracker_is_the_position() {
        let whole = of_java();
        let file = "/data/in/file1.log".to_owned();
        assert_eq!(read(&whole), Some((file.clone(), 1000)));
        let header = whole.len() - 20 - 19;
        for len in 0..whole.len() {
            let wanted = match len {
                n if n < header => None,
                n if n < header + 19 => Some((file.clone(), 0)),
                _ => Some((file.clone(), 5)),
            };
            assert_eq!(read(&whole[..len]), wanted, "{len}");
        }
    }

    #[test]
    fn no_changed_byte_makes_it_fall_over() {
        let whole = of_java();
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _ = read(&changed);
            }
        }
    }

    #[test]
    fn what_is_written_is_as_javas_and_goes_on_for_its_own_file_only() {
        let folder = tempfile::tempdir().unwrap();
        let mut tracker = Tracker::open(folder.path()).unwrap();
        let (one, other) = (Path::new("/data/in/file1.log"), Path::new("/data/in/file2.log"));
        assert_eq!(tracker.begin(one).unwrap(), 0);
        tracker.store(5).unwrap();
        tracker.store(1000).unwrap();
        let written = fs::read(&tracker.path).unwrap();
        let java = of_java();
        let header = java.len() - 20 - 19 - SYNC_BYTES;
        assert_eq!(written[..header], java[..header]);
        assert_eq!(written[header + SYNC_BYTES..][..3], [2, 2, 0]);
        let mut again = Tracker::open(folder.path()).unwrap();
        assert_eq!(again.begin(one).unwrap(), 1000);
        // It stays small.
        for n in 0..10_000 {
            again.store(n).unwrap();
        }
        assert!(fs::metadata(&again.path).unwrap().len() < 2 * MOST_BYTES as u64);
        assert_eq!(Tracker::open(folder.path()).unwrap().begin(one).unwrap(), 9_999);
        assert_eq!(Tracker::open(folder.path()).unwrap().begin(other).unwrap(), 0);
        assert_eq!(
            Tracker::open(folder.path()).unwrap().begin(one).unwrap(),
            0,
            "another file has taken its place"
        );
        again.end().unwrap();
        fs::write(&again.path, b"").unwrap();
        assert_eq!(again.begin(one).unwrap(), 0, "a file that a crash left empty");
    }
}
