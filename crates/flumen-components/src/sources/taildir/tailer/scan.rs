//! Looks which files there are, and which of them are to be read.

use super::{Gone, Key, Tailer};
use crate::sources::taildir::{
    disk::Stat,
    file::{Handle, TailFile},
    group::Group,
    mark::{Mark, Trail, hash},
    packed::GZIP,
    positions::Row,
};
use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::Instant;

/// How long a file that was renamed or deleted is read on after its last change: its writer may not know yet.
const LEAVING: Duration = Duration::from_secs(10);

impl Tailer {
    /// Looks at all groups, and queues the files that have something to read: those that are leaving first, then by group and
    /// time.
    pub(in crate::sources::taildir) fn scan(&mut self, now: Instant) {
        self.scans += 1;
        let mut order = Vec::new();
        let mut unseen_groups = HashSet::new();
        for group in 0..self.setup.groups.len() {
            match self.scan_group(group, now) {
                Ok(mut found) => {
                    found.sort_by_key(|(mtime_ns, _)| *mtime_ns);
                    order.extend(found.into_iter().map(|(_, key)| key));
                }
                Err(error) => {
                    self.setup.metrics.read_fail.add(1);
                    unseen_groups.insert(group);
                    let group = &mut self.setup.groups[group];
                    if group.tell_broken(true) {
                        let directory = group.files.directory.display();
                        tracing::warn!(source = %self.setup.name, %directory, %error, "cannot list the directory; trying again");
                    }
                }
            }
        }
        if self.scans == 1 {
            self.claim_rest(&unseen_groups, now);
        }
        self.look_for_missing(&unseen_groups, now);
        self.look_for_copies(now);
        self.tell_all_lost(Some(now));
        for key in &order {
            let Some(file) = self.files.get(key).filter(|file| self.is_wanted(file, now)) else { continue };
            if file.handle.is_open() || file.has_rest() || file.seen != Some((file.len, file.mtime_ns)) {
                self.enqueue(*key);
            } else if let Some(file) = self.files.get_mut(key) {
                // Nothing to deliver, and nothing to close.
                file.idle = true;
            }
        }
        self.changed |= order.len() != self.order.len();
        self.order = order;
    }

    fn scan_group(&mut self, group: usize, now: Instant) -> io::Result<Vec<(i64, Key)>> {
        let now_ms = self.setup.clock.now_ms();
        let (by_id, saved) = (&self.by_id, &self.saved);
        let known = || by_id.keys().map(|(_, ino)| *ino).chain(saved.keys().copied()).collect();
        let names = self.setup.groups[group].matching(&*self.disk, now_ms, known)?;
        self.setup.groups[group].tell_broken(false);
        let mut found = Vec::with_capacity(names.len());
        for name in names.iter() {
            let path = self.setup.groups[group].path(name);
            match self.disk.stat(&path) {
                Ok(stat) if stat.regular => {
                    found.extend(self.meet(group, path, &stat, now).map(|key| (stat.mtime_ns, key)));
                }
                // Pipes and devices: reading them could block.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.setup.groups[group].distrust_cache();
                }
                Err(error) => self.not_seen(&path, &error),
            }
        }
        Ok(found)
    }

    /// A file whose state cannot be asked for stays as it was.
    fn not_seen(&mut self, path: &Path, error: &io::Error) {
        let scans = self.scans;
        if let Some(mut file) = self
            .files
            .values()
            .find(|file| file.path == path)
            .map(|file| file.key)
            .and_then(|key| self.files.remove(&key))
        {
            file.scan = scans;
            self.tell_failure(&mut file, error);
            self.files.insert(file.key, file);
        } else {
            self.setup.metrics.read_fail.add(1);
            tracing::debug!(source = %self.setup.name, file = %path.display(), %error, "cannot be looked at");
        }
    }

    /// A file that matches. `None`: it was met in this scan already.
    fn meet(&mut self, group: usize, path: PathBuf, stat: &Stat, now: Instant) -> Option<Key> {
        let id = (stat.dev, stat.ino);
        if let Some(key) = self.by_id.get(&id).copied() {
            let file = self.files.get_mut(&key)?;
            // While it is open its inode cannot be another file's.
            let reused = !file.handle.is_open()
                && matches!((file.birth_ns, stat.birth_ns), (Some(old), Some(new)) if old != new);
            if !reused {
                if file.scan == self.scans {
                    return None;
                }
                file.scan = self.scans;
                file.leaving = None;
                if file.path != path {
                    let (from, to) = (file.path.display(), path.display());
                    tracing::info!(source = %self.setup.name, %from, %to, "renamed; read on");
                    (file.path, file.group, file.headers) = (path, group, None);
                    self.changed = true;
                }
                file.note(stat, now);
                self.check_len(key);
                return Some(key);
            }
            tracing::info!(source = %self.setup.name, file = %path.display(), "another file has its inode");
            self.retire(key, now);
        }
        let key = self.next_key;
        self.next_key += 1;
        let mut file = TailFile::new(key, group, path, stat, now);
        file.scan = self.scans;
        (file.found, file.first) = (self.scans, self.scans == 1);
        self.start(&mut file, stat);
        if file.read.pos == stat.len && !file.is_packed() {
            // Nothing to read, so nothing to open.
            file.seen = Some((stat.len, stat.mtime_ns));
        }
        self.by_id.insert(id, key);
        self.files.insert(key, Box::new(file));
        self.changed = true;
        Some(key)
    }

    fn check_len(&mut self, key: Key) {
        if self.files.get(&key).is_some_and(|file| file.len < file.read.pos && !file.is_packed())
            && let Some(mut file) = self.files.remove(&key)
        {
            self.restart(&mut file, "it is shorter than before");
            self.files.insert(key, file);
        }
    }

    /// Where a file that was not known is read from.
    fn start(&mut self, file: &mut TailFile, stat: &Stat) {
        if let Some(row) = self.claim(file, stat) {
            file.packed = row.packed.then_some(true);
            if row.pos > stat.len && !row.packed && self.is_gzip(&file.path) {
                // Another position file does not tell that it is.
                file.packed = Some(true);
            }
            if row.pos <= stat.len || file.is_packed() {
                file.read = Mark { pos: row.pos, tail: row.tail };
                file.committed = file.read;
                (file.head, file.seen) = (row.head, row.seen);
                file.trail = Trail::from(file.read);
                return;
            }
            let path = file.path.display();
            tracing::info!(source = %self.setup.name, file = %path, position = row.pos, "shorter than its position; read from the start");
            self.gone.push_back(Gone::of_row(&row, true, self.scans));
        } else if self.setup.skip_to_end && self.scans == 1 {
            file.read = Mark { pos: stat.len, tail: None };
            file.committed = file.read;
        }
    }

    /// The row of the position file that is this file's: by inode and path as in Java, or by content where it was renamed.
    fn claim(&mut self, file: &TailFile, stat: &Stat) -> Option<Row> {
        let text = file.path.to_string_lossy();
        let rows = self.saved.get(&stat.ino)?;
        let born_alike = |row: &Row| match (row.birth_ns, stat.birth_ns) {
            (Some(old), Some(new)) => old == new,
            _ => true,
        };
        let here = rows.iter().rposition(|row| row.file == text && born_alike(row));
        let at = here.or_else(|| {
            rows.iter().rposition(|row| born_alike(row) && self.has_content(&file.path, row).unwrap_or(false))
        })?;
        let rows = self.saved.get_mut(&stat.ino)?;
        let row = rows.remove(at);
        // A second row for the same file says the same or less.
        rows.retain(|other| other.file != row.file);
        Some(row)
    }

    /// Whether a file still has the content that a row tells of.
    fn has_content(&self, path: &Path, row: &Row) -> io::Result<bool> {
        let Some(tail) = row.tail.filter(|_| row.head.len > 0 && !row.packed) else { return Ok(false) };
        let file = self.disk.open(path)?;
        let head = file.part(0, usize::from(row.head.len))?;
        let mark = Mark { pos: row.pos, tail: Some(tail) };
        let len = mark.tail_len();
        let before = file.part(row.pos - len as u64, len)?;
        Ok(row.head.begins(&head) && before.len() == len && hash(&before) == tail)
    }

    fn is_gzip(&self, path: &Path) -> bool {
        let first = || {
            let mut first = Vec::with_capacity(GZIP.len());
            self.disk.open(path)?.read_at(&mut first, 0)?;
            Ok::<_, io::Error>(first.starts_with(&GZIP))
        };
        self.setup.decompress && first().unwrap_or(false)
    }

    /// Rows whose files are not among the matching ones: renamed out of the pattern while nobody looked, or gone.
    fn claim_rest(&mut self, unseen_groups: &HashSet<usize>, now: Instant) {
        let mut rows: Vec<Row> = std::mem::take(&mut self.saved).into_values().flatten().collect();
        rows.sort_by(|a, b| a.file.cmp(&b.file));
        for row in rows {
            let directory = Path::new(&row.file).parent().map(Path::to_owned);
            let is_in = |group: &Group| Some(&group.files.directory) == directory.as_ref();
            if unseen_groups.iter().any(|group| is_in(&self.setup.groups[*group])) {
                self.saved.entry(row.ino).or_default().push(row);
                continue;
            }
            let group =
                self.setup.groups.iter().position(|group| is_in(group) && group.elsewhere(row.ino).is_some());
            let path = group.and_then(|group| self.setup.groups[group].elsewhere(row.ino));
            if let (Some(group), Some(path)) = (group, path)
                && !self.by_id.keys().any(|(_, ino)| *ino == row.ino)
                && self.has_content(&path, &row).unwrap_or(false)
                && let Ok(stat) = self.disk.stat(&path)
                && stat.regular
            {
                tracing::info!(source = %self.setup.name, from = row.file, to = %path.display(), "renamed while nobody looked; read to its end");
                let key = self.next_key;
                self.next_key += 1;
                let mut file = TailFile::new(key, group, PathBuf::from(&row.file), &stat, now);
                file.headers = Some(self.headers(&file));
                file.path = path;
                file.read = Mark { pos: row.pos, tail: row.tail };
                file.committed = file.read;
                (file.head, file.leaving, file.first) = (row.head, Some(now), true);
                self.by_id.insert(file.id, key);
                self.files.insert(key, Box::new(file));
            } else {
                self.note_absent(&row, now);
            }
        }
    }

    /// Files that were there and are not any more: read to their ends where that can be done.
    fn look_for_missing(&mut self, unseen_groups: &HashSet<usize>, now: Instant) {
        let missing: Vec<Key> = self
            .files
            .values()
            .filter(|file| file.scan != self.scans && !unseen_groups.contains(&file.group))
            .map(|file| file.key)
            .collect();
        for key in missing {
            let Some(mut file) = self.files.remove(&key) else { continue };
            let stays = self.is_reachable(&mut file, now);
            if stays {
                file.leaving.get_or_insert(now);
                file.first = true;
            }
            let wanted = stays && self.is_wanted(&file, now);
            self.files.insert(key, file);
            match (stays, wanted) {
                (false, _) => self.retire(key, now),
                (true, true) => self.enqueue(key),
                (true, false) => {}
            }
        }
    }

    fn is_reachable(&mut self, file: &mut TailFile, now: Instant) -> bool {
        if let Some(open) = file.handle.file() {
            if let Ok(stat) = open.stat() {
                file.note(&stat, now);
            }
            return true;
        }
        if file.leaving.is_some_and(|since| now >= since.max(file.changed_at) + LEAVING) && !file.has_rest() {
            return false;
        }
        let groups = &mut self.setup.groups;
        let Some(path) = groups.iter().find_map(|group| group.elsewhere(file.id.1)) else { return false };
        match self.disk.stat(&path) {
            Ok(stat) if (stat.dev, stat.ino) == file.id && stat.len >= file.read.pos => {
                if file.headers.is_none() {
                    file.headers = Some(self.headers(file));
                }
                file.path = path;
                file.note(&stat, now);
                true
            }
            _ => false,
        }
    }

    /// Whether there is something to do with a file.
    fn is_wanted(&self, file: &TailFile, now: Instant) -> bool {
        file.held
            || file.flush
            || file.seen != Some((file.len, file.mtime_ns)) && !(file.is_empty_yet())
            || self.is_over(file, now)
    }

    /// Whether nobody writes to the file any more, and that was not dealt with yet.
    pub(super) fn is_over(&self, file: &TailFile, now: Instant) -> bool {
        let patience = match file.leaving {
            Some(since) => since.max(file.changed_at) + LEAVING.min(self.setup.idle_timeout),
            None => file.changed_at + self.setup.idle_timeout,
        };
        !file.idle && now >= patience
    }
}

impl TailFile {
    /// Whether there was never a byte to read.
    fn is_empty_yet(&self) -> bool {
        self.len == 0 && self.read.pos == 0
    }

    /// Closes what is open.
    pub(super) fn close(&mut self) {
        self.handle = Handle::Closed;
    }
}
