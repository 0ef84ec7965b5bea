//! The tracker file: which file is read, and how far the channels have it. It is Java Flume's: an Avro data file with a
//! position in each record, of which the last counts, and the path in front.
//!
//! What Java's cannot hold stands in front as well, where Java does not look: which file it was, by inode and time of birth,
//! and how many events behind the position are done, where a block can only be read from its start.

use super::disk::Disk;
use crate::shared::{
    avro_file::{Header, NotAvro, SYNC_BYTES, write_block, write_header, zigzag},
    disk::Stat,
    held::Held,
};
use flumen_core::serialize::Place;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const NAME: &str = ".flumespool-main.meta";
const SCHEMA: &str = "{\"type\":\"record\",\"name\":\"TransferStateFileMeta\",\"namespace\":\"org.apache.flume.serialization\",\
                      \"fields\":[{\"name\":\"offset\",\"type\":\"long\"}]}";
const FILE_KEY: &str = "file";
const IDENTITY_KEY: &str = "flumen.identity";
const SKIP_KEY: &str = "flumen.skip";
/// A tracker that has grown to this is written anew with its last record.
const MOST_BYTES: usize = 64 << 10;

/// What a tracker file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tracked {
    /// The path of the file, as the configuration begins it.
    pub(super) file: String,
    /// Inode and time of birth, where Flumen has written it.
    pub(super) identity: Option<String>,
    pub(super) place: Place,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tracker {
    path: PathBuf,
    /// Bytes of the file that is there; `None`: there is none, or not for the file at hand.
    written: Option<usize>,
    /// There is a file, of whatever.
    there: bool,
    sync: [u8; SYNC_BYTES],
    _held: Held,
}

impl Tracker {
    /// Takes the tracker of a directory, and reads it. What cannot be read is told and not used.
    pub(super) fn open(disk: &dyn Disk, directory: &Path) -> io::Result<(Self, Option<Tracked>)> {
        let path = directory.join(NAME);
        // By whichever name it goes.
        let real = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let held = Held::new(&real.join(NAME), "trackerDir")?;
        let content = disk.load(&path)?;
        let there = content.is_some();
        let tracked = match content {
            None => None,
            Some(content) => read(&content).unwrap_or_else(|error| {
                tracing::warn!(file = %path.display(), %error, "the tracker file is damaged: files are read from their starts");
                None
            }),
        };
        Ok((Self { path, written: None, there, sync: [0; SYNC_BYTES], _held: held }, tracked))
    }

    /// Writes how far a file was read: a record more, or all of it anew.
    pub(super) fn record(
        &mut self,
        disk: &dyn Disk,
        file: &Path,
        stat: &Stat,
        place: Place,
    ) -> io::Result<()> {
        if let (Some(written @ ..MOST_BYTES), 0) = (self.written, place.skip) {
            let mut record = Vec::new();
            write_record(place.offset, &self.sync, &mut record);
            // Half a record is no position: it is not read, and written over by the next tracker.
            self.written = None;
            disk.append(&self.path, &record)?;
            self.written = Some(written + record.len());
            return Ok(());
        }
        getrandom::fill(&mut self.sync).map_err(|error| io::Error::other(error.to_string()))?;
        let tracked =
            Tracked { file: file.to_string_lossy().into_owned(), identity: Some(identity(stat)), place };
        let content = write(&tracked, &self.sync);
        self.there = true;
        disk.replace(&self.path, &content)?;
        // One with events to skip is true for its one record only.
        self.written = (place.skip == 0).then_some(content.len());
        Ok(())
    }

    /// What is written is about no file any more. `keep`: it stays there, as Java has it with `tracker_dir`.
    pub(super) fn end(&mut self, disk: &dyn Disk, keep: bool) -> io::Result<()> {
        self.written = None;
        if !keep && self.there {
            disk.remove(&self.path)?;
            self.there = false;
        }
        Ok(())
    }
}

/// Which file it is, so that another one of the same name is known.
pub(super) fn identity(stat: &Stat) -> String {
    match stat.birth_ns {
        Some(birth_ns) => format!("{} {birth_ns}", stat.ino),
        None => stat.ino.to_string(),
    }
}

/// The last whole record. `None` where there is nothing, as a full disk leaves it.
fn read(content: &[u8]) -> Result<Option<Tracked>, NotAvro> {
    if content.is_empty() {
        return Ok(None);
    }
    let header = Header::parse(content)?.ok_or_else(|| NotAvro::new("it ends too soon"))?;
    let text = |key| header.get(key).map(|value| String::from_utf8_lossy(value).into_owned());
    let file = text(FILE_KEY).ok_or_else(|| NotAvro::new("it names no file"))?;
    let mut offset = 0;
    let mut rest = &content[header.len..];
    // Java writes one record a block. What follows a torn one is not looked at.
    while let Some((records, after)) = next_records(rest, &header.sync) {
        offset = records.last().copied().unwrap_or(offset);
        rest = after;
    }
    let skip = text(SKIP_KEY).and_then(|skip| skip.parse().ok()).unwrap_or(0);
    Ok(Some(Tracked { file, identity: text(IDENTITY_KEY), place: Place { offset, skip } }))
}

/// The positions of the first block, and what is behind it; `None` where it is not whole.
fn next_records<'a>(bytes: &'a [u8], sync: &[u8; SYNC_BYTES]) -> Option<(Vec<u64>, &'a [u8])> {
    let mut rest = bytes;
    let mut number = || crate::shared::avro_file::take_number(&mut rest);
    let (count, len) = (number()?, usize::try_from(number()?).ok()?);
    let (data, after) = rest.split_at_checked(len)?;
    let after = after.strip_prefix(sync)?;
    let mut data = data;
    let mut records = Vec::new();
    for _ in 0..count {
        let offset = crate::shared::avro_file::take_number(&mut data)?;
        records.push(u64::try_from(offset).unwrap_or(0));
    }
    Some((records, after))
}

fn write(tracked: &Tracked, sync: &[u8; SYNC_BYTES]) -> Vec<u8> {
    let skip = tracked.place.skip.to_string();
    let mut metadata = vec![("avro.schema", SCHEMA.as_bytes()), (FILE_KEY, tracked.file.as_bytes())];
    if let Some(identity) = &tracked.identity {
        metadata.push((IDENTITY_KEY, identity.as_bytes()));
    }
    if tracked.place.skip > 0 {
        metadata.push((SKIP_KEY, skip.as_bytes()));
    }
    let mut content = Vec::new();
    write_header(&metadata, sync, &mut content);
    write_record(tracked.place.offset, sync, &mut content);
    content
}

fn write_record(offset: u64, sync: &[u8; SYNC_BYTES], out: &mut Vec<u8>) {
    let mut record = Vec::new();
    zigzag(i64::try_from(offset).unwrap_or(i64::MAX), &mut record);
    write_block(1, &record, sync, out);
}

/// Reads a tracker file and writes what was read, for hostile input.
#[doc(hidden)]
pub fn read_and_write(content: &[u8]) -> Option<Vec<u8>> {
    Some(write(&read(content).ok()??, &[7; SYNC_BYTES]))
}

/// The path and every position, for comparison with Java's.
#[cfg(test)]
pub(super) fn dump(content: &[u8]) -> (String, Vec<u64>) {
    let header = Header::parse(content).unwrap().unwrap();
    let (mut offsets, mut rest) = (Vec::new(), &content[header.len..]);
    while let Some((records, after)) = next_records(rest, &header.sync) {
        offsets.extend(records);
        rest = after;
    }
    assert!(rest.is_empty(), "nothing is torn");
    (String::from_utf8(header.get(FILE_KEY).unwrap().to_vec()).unwrap(), offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Java 1.11 wrote for /data/in/file1.log, at 5 and at 1000.
    fn javas() -> Vec<u8> {
        let mut bytes = b"Obj\x01\x04\x16avro.schema\x90\x02".to_vec();
        bytes.extend_from_slice(SCHEMA.as_bytes());
        bytes.extend_from_slice(b"\x08file\x24/data/in/file1.log\x00");
        let sync = *b"\xb6\x1b\xab\xac\x23\x64\xaa\xe5\xb7\x1f\x83\x63\xcc\xe0\xdc\x1d";
        for part in [&sync[..], b"\x02\x02\x0a", &sync, b"\x02\x04\xd0\x0f", &sync] {
            bytes.extend_from_slice(part);
        }
        bytes
    }

    #[test]
    fn ser_20_the_last_record_of_javas_tracker_is_the_position() {
        let expected = Tracked {
            file: "/data/in/file1.log".to_owned(),
            identity: None,
            place: Place { offset: 1000, skip: 0 },
        };
        assert_eq!(read(&javas()), Ok(Some(expected)));
    }

    #[test]
    fn c_14_a_torn_tracker_gives_its_last_whole_record_and_an_empty_one_nothing() {
        let whole = javas();
        let records_begin = whole.len() - 19 - 20;
        for len in 0..whole.len() {
            let read = read(&whole[..len]);
            match len {
                0 => assert_eq!(read, Ok(None)),
                n if n < records_begin => assert!(read.is_err(), "{n}"),
                n => {
                    let offset = if n < records_begin + 19 { 0 } else { 5 };
                    assert_eq!(read.unwrap().unwrap().place.offset, offset, "{n}");
                }
            }
        }
        assert!(read(b"no data file").is_err());
    }

    #[test]
    fn what_is_written_can_be_read_and_begins_as_javas() {
        let tracked = Tracked {
            file: "in/a".to_owned(),
            identity: Some("12 34".to_owned()),
            place: Place { offset: 77, skip: 3 },
        };
        let content = write(&tracked, &[9; SYNC_BYTES]);
        assert_eq!(read(&content), Ok(Some(tracked.clone())));
        let plain = Tracked { identity: None, place: Place { offset: 5, skip: 0 }, ..tracked };
        let content = write(&Tracked { file: "/data/in/file1.log".to_owned(), ..plain }, &[9; SYNC_BYTES]);
        let javas = javas();
        let front = javas.len() - 19 - 20 - SYNC_BYTES;
        assert_eq!(content[..front], javas[..front]);
        assert_eq!(content[front..], [&[9; 16][..], b"\x02\x02\x0a", &[9; 16]].concat());
    }
}
