//! What the disk can do: the same bytes appended to one file.

use std::{
    fs::OpenOptions,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Blocks that O_DIRECT wants.
const BLOCK: usize = 4096;

/// Bytes that are appended.
#[derive(Debug, Clone)]
pub(super) struct Append {
    pub(super) file: PathBuf,
    /// Bytes of one write.
    pub(super) chunk: usize,
    /// Bytes of all.
    pub(super) total: usize,
    /// Writes in flight.
    pub(super) at_once: usize,
}

impl Append {
    /// Each write has a file description of its own and is synced, as the file channel does it. With `direct`, whole blocks
    /// go past the cache.
    pub(super) fn synced(&self, direct: bool) {
        let chunk = if direct { self.chunk.next_multiple_of(BLOCK) } else { self.chunk };
        drop(OpenOptions::new().create(true).write(true).truncate(true).open(&self.file).expect("a file"));
        let next = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..self.at_once {
                threads.spawn(|| {
                    let room = vec![7; chunk + BLOCK];
                    let from = room.as_ptr().align_offset(BLOCK);
                    let bytes = &room[from..from + chunk];
                    loop {
                        let at = next.fetch_add(chunk, Ordering::Relaxed);
                        if at >= self.total {
                            return;
                        }
                        let mut options = OpenOptions::new();
                        options.write(true);
                        if direct {
                            options.custom_flags(rustix::fs::OFlags::DIRECT.bits() as i32);
                        }
                        let file = options.open(&self.file).expect("the file is there");
                        file.write_all_at(bytes, at as u64).expect("there is room on the disk");
                        file.sync_data().expect("the disk is well");
                    }
                });
            }
        });
    }

    /// Written and left to the system.
    pub(super) fn plain(&self) {
        let file =
            OpenOptions::new().create(true).write(true).truncate(true).open(&self.file).expect("a file");
        let bytes = vec![7; self.chunk];
        for at in (0..self.total).step_by(self.chunk) {
            file.write_all_at(&bytes, at as u64).expect("there is room on the disk");
        }
    }
}
