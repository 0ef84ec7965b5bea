//! Hostile input for every parser: a target each, which must neither panic, nor hang, nor use memory without limit.
//!
//! `smoke` runs all targets briefly and always the same way, `canary` proves that the harness can fail, `long` runs one target
//! for as long as wanted. Inputs are seeds (golden files of the tree, and `fuzz/corpus`), changed at random.

pub mod mutate;
mod targets;

pub use targets::TARGETS;

use mutate::Mutator;
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::Duration,
};

/// An input that takes longer counts as a hang. Generous: the machine may be busy.
const SLOW: Duration = Duration::from_secs(20);

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder of seeds in `fuzz/corpus`.
    pub name: &'static str,
    /// Feeds it.
    pub run: fn(&[u8]),
    /// Further seeds: files below these paths of the tree.
    pub seeds: &'static [&'static str],
    /// Seeds that are written here.
    pub texts: &'static [&'static str],
    /// The longest input, in bytes.
    pub max_len: usize,
}

/// An input that a target did not stand.
#[derive(Debug)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// What happened.
    pub what: String,
}

impl Target {
    /// All seeds, sorted, so that a run is repeatable.
    pub fn all_seeds(&self) -> Vec<Vec<u8>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        list_files(&root.join("corpus").join(self.name), &mut files);
        for seeds in self.seeds {
            list_files(&root.join("..").join(seeds), &mut files);
        }
        files.sort();
        let read =
            files.iter().filter_map(|file| fs::read(file).ok()).filter(|seed| seed.len() <= self.max_len);
        let mut all: Vec<Vec<u8>> =
            self.texts.iter().map(|text| text.as_bytes().to_vec()).chain(read).collect();
        all.push(Vec::new());
        all
    }

    /// Feeds the seeds and then `rounds` changed ones, from `seed` on.
    ///
    /// # Errors
    /// The first input that the target did not stand.
    pub fn fuzz(&self, seed: u64, rounds: usize) -> Result<usize, Finding> {
        let seeds = self.all_seeds();
        for input in &seeds {
            self.feed(input)?;
        }
        let mut mutator = Mutator::new(seed, &seeds, self.max_len);
        for _ in 0..rounds {
            self.feed(&mutator.next_input())?;
        }
        Ok(seeds.len() + rounds)
    }

    fn feed(&self, input: &[u8]) -> Result<(), Finding> {
        #[expect(clippy::disallowed_methods, reason = "a hang is measured on the machine's clock")]
        let before = std::time::Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.run)(input)));
        let took = before.elapsed();
        let what = match outcome {
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                format!("panic: {}", text.or(panic.downcast_ref::<String>().cloned()).unwrap_or_default())
            }
            Ok(()) if took > SLOW => format!("took {took:?}"),
            Ok(()) => return Ok(()),
        };
        Err(Finding { input: input.to_vec(), what })
    }
}

fn list_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        list_files(&entry.path(), files);
    }
}

/// An input in a form that a test or a corpus file can take over.
pub fn shown(input: &[u8]) -> String {
    input.escape_ascii().to_string()
}
