//! What is behind a position and can no longer be read: it is looked for in copies whose names do not match, and told.

use super::{
    Gone, Tailer,
    copies::{PATIENCE, ends_with},
};
use crate::sources::taildir::{
    disk::Stat,
    file::TailFile,
    mark::{HEAD_BYTES, Trail},
    positions::Row,
};
use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};
use tokio::time::Instant;

/// Files that may be copies, at most, the youngest first.
const MOST_COPIES: usize = 64;

impl Tailer {
    /// A file is not tailed any more. What is unread of it is lost, if no copy turns up.
    pub(super) fn note_unread(&mut self, file: &TailFile, is_remembered: bool, now: Instant) {
        if !file.has_rest() || file.is_packed() {
            return;
        }
        match self.gone.back_mut().filter(|_| is_remembered) {
            Some(gone) => gone.lost = Some(now),
            None => self.tell_lost(&file.path.to_string_lossy(), file.read.pos),
        }
    }

    /// A position whose file was not found at the start.
    pub(super) fn note_absent(&mut self, row: &Row, now: Instant) {
        let is_remembered = row.head.len > 0 && row.pos > 0;
        if is_remembered {
            let truncated = self.disk.stat(Path::new(&row.file)).is_ok();
            self.gone.push_back(Gone::of_row(row, truncated, self.scans));
        }
        if row.seen.is_some() {
            let (source, file) = (&*self.setup.name, &*row.file);
            tracing::info!(
                source,
                file,
                position = row.pos,
                "not there any more; it had been read to its end"
            );
        } else if let Some(gone) = self.gone.back_mut().filter(|_| is_remembered) {
            gone.lost = Some(now);
        } else {
            self.tell_lost(&row.file, row.pos);
        }
    }

    /// Tells what has not turned up in time; all of it where there is no `now`.
    pub(in crate::sources::taildir) fn tell_all_lost(&mut self, now: Option<Instant>) {
        let is_due = |since: Instant| now.is_none_or(|now| now >= since + 2 * PATIENCE);
        let due: Vec<(String, u64)> = self
            .gone
            .iter_mut()
            .filter(|gone| gone.lost.is_some_and(is_due))
            .map(|gone| {
                gone.lost = None;
                (gone.file.clone(), gone.read.pos)
            })
            .collect();
        for (file, pos) in due {
            self.tell_lost(&file, pos);
        }
    }

    fn tell_lost(&self, file: &str, position: u64) {
        self.setup.metrics.read_fail.add(1);
        tracing::warn!(source = %self.setup.name, file, position, "moved away or deleted before it was read to its end: the lines behind the position are lost");
    }

    /// Reads what is left of files that were emptied, where a copy of them is beside them under a name that does not match.
    pub(super) fn look_for_copies(&mut self, now: Instant) {
        while let Some(at) = self.gone.iter().position(|gone| !gone.looked) {
            self.gone[at].looked = true;
            match self.copy_beside(&self.gone[at]) {
                Ok(Some((group, path, stat))) => self.read_copy(at, group, path, &stat, now),
                Ok(None) => {}
                Err(error) => {
                    self.setup.metrics.read_fail.add(1);
                    tracing::warn!(source = %self.setup.name, file = self.gone[at].file, %error, "cannot look for a copy of what was in it");
                }
            }
        }
    }

    fn copy_beside(&self, gone: &Gone) -> io::Result<Option<(usize, PathBuf, Stat)>> {
        let original = Path::new(&gone.file);
        let Some(directory) = original.parent() else { return Ok(None) };
        let in_it = |group: &super::Group| group.files.directory == directory;
        let Some(group) = self.setup.groups.iter().position(in_it) else { return Ok(None) };
        let mut names = Vec::new();
        self.disk.list(directory, &mut |name: &OsStr, _| names.push(name.to_owned()))?;
        let mut candidates = Vec::new();
        for name in names.iter().filter(|name| !self.setup.groups[group].matches(name)) {
            let path = directory.join(name);
            if let Ok(stat) = self.disk.stat(&path)
                && stat.regular
                && stat.len > gone.read.pos
                && !self.by_id.contains_key(&(stat.dev, stat.ino))
            {
                candidates.push((path, stat));
            }
        }
        candidates.sort_by_key(|(_, stat)| std::cmp::Reverse(stat.mtime_ns));
        for (path, stat) in candidates.into_iter().take(MOST_COPIES) {
            let Ok(open) = self.disk.open(&path) else { continue };
            if gone.head.begins(&open.part(0, HEAD_BYTES)?) && ends_with(&*open, gone.read)? {
                return Ok(Some((group, path, stat)));
            }
        }
        Ok(None)
    }

    fn read_copy(&mut self, at: usize, group: usize, path: PathBuf, stat: &Stat, now: Instant) {
        let Some(gone) = self.gone.remove(at) else { return };
        tracing::info!(source = %self.setup.name, from = gone.file, to = %path.display(), position = gone.read.pos, "copied and emptied; the copy is read to its end");
        let key = self.next_key;
        self.next_key += 1;
        let mut file = TailFile::new(key, group, PathBuf::from(&gone.file), stat, now);
        file.headers = Some(self.headers(&file));
        file.path = path;
        (file.read, file.committed, file.head) = (gone.read, gone.committed, gone.head);
        (file.trail, file.leaving, file.first) = (Trail::from(gone.read), Some(now), true);
        (file.found, file.scan) = (self.scans, self.scans);
        self.note_adopted(gone.content, key);
        self.by_id.insert(file.id, key);
        self.files.insert(key, Box::new(file));
        // It is found again by its inode.
        self.setup.groups[group].distrust_cache();
        self.enqueue(key);
        self.changed = true;
    }
}
