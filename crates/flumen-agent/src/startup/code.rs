//! Lets go of the program's pages that only the start needed: reading the command line and the configuration touches most of
//! the program, and an agent that waits for events needs little of it. What is needed again comes back from the file.

use rustix::mm::{Advice, madvise};
use std::{fs, ops::Range, ptr};

/// Gives back what is resident of the program's and its libraries' unchanged pages. Costs a look at the process's mappings,
/// about a millisecond; what then is touched again costs a page fault for every 64 KiB.
#[expect(unsafe_code, reason = "telling the system about a range of addresses has no safe form")]
pub(crate) fn let_go_of_the_start() {
    let Ok(smaps) = fs::read_to_string("/proc/self/smaps") else { return };
    for range in unchanged_files(&smaps) {
        let start = ptr::without_provenance_mut(range.start);
        // SAFETY: the range is one whole mapping of a file that cannot be written through and of which no page differs from the
        // file (see `unchanged_files`). Dropping its pages changes no byte that can be read there: the next access reads the
        // same bytes from the file again. Nothing makes such a mapping writable meanwhile: only the loader does that, while it
        // loads a library.
        let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
    }
}

/// The mappings (proc_pid_smaps(5)) of files that are not writable and hold no page that differs from the file. A page that
/// does, as the loader makes them while it relocates, would be lost.
fn unchanged_files(smaps: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut mapping: Option<Mapping> = None;
    for line in smaps.lines() {
        if let Some(next) = Mapping::header(line) {
            found.extend(mapping.replace(next).and_then(Mapping::unchanged));
        } else if let Some(mapping) = &mut mapping {
            match line.split_once(':') {
                Some(("Anonymous", size)) => mapping.anonymous_is_none = size.trim() == "0 kB",
                Some(("Swap", size)) => mapping.swapped_is_none = size.trim() == "0 kB",
                _ => {}
            }
        }
    }
    found.extend(mapping.and_then(Mapping::unchanged));
    found
}

struct Mapping {
    range: Range<usize>,
    read_only_file: bool,
    anonymous_is_none: bool,
    swapped_is_none: bool,
}

impl Mapping {
    /// `5620ab461000-5620abc75000 r-xp 0037d000 fe:00 9978202    /usr/bin/flumen`, or nothing for any other line.
    fn header(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        let range = address(start)?..address(end)?;
        let access = fields.next()?;
        let path = fields.nth(3).unwrap_or_default();
        let read_only_file = matches!(access, "r-xp" | "r--p") && path.starts_with('/');
        Some(Self { range, read_only_file, anonymous_is_none: false, swapped_is_none: false })
    }

    fn unchanged(self) -> Option<Range<usize>> {
        (self.read_only_file && self.anonymous_is_none && self.swapped_is_none).then_some(self.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(header: &str, anonymous: &str, swap: &str) -> String {
        format!(
            "{header}\nSize:  8 kB\nRss:   8 kB\nAnonymous:   {anonymous}\nSwap:  {swap}\nVmFlags: rd mr\n"
        )
    }

    #[test]
    fn only_whole_files_that_nobody_has_changed_are_let_go_of() {
        let code = "1000-3000 r-xp 00001000 fe:00 42    /usr/bin/flumen";
        assert_eq!(unchanged_files(&mapping(code, "0 kB", "0 kB")).first(), Some(&(0x1000..0x3000)));
        assert_eq!(unchanged_files(&mapping(&code.replace("r-xp", "r--p"), "0 kB", "0 kB")).len(), 1);
        for (header, anonymous, swap) in [
            (code, "4 kB", "0 kB"),
            (code, "0 kB", "4 kB"),
            (&code.replace("r-xp", "rw-p"), "0 kB", "0 kB"),
            (&code.replace("r-xp", "rwxp"), "0 kB", "0 kB"),
            (&code.replace("r-xp", "r-xs"), "0 kB", "0 kB"),
            ("1000-3000 r--p 00000000 00:00 0", "0 kB", "0 kB"),
            ("1000-3000 r-xp 00000000 00:00 0    [vdso]", "0 kB", "0 kB"),
        ] {
            assert!(
                unchanged_files(&mapping(header, anonymous, swap)).is_empty(),
                "{header} {anonymous} {swap}"
            );
        }
        assert!(unchanged_files(code).is_empty(), "what is not said is not known");
        let two = mapping(code, "0 kB", "0 kB") + &mapping("3000-4000 r-xp 0 0:0 1 /lib/x", "0 kB", "0 kB");
        assert_eq!(unchanged_files(&two), [0x1000..0x3000, 0x3000..0x4000]);
    }

    #[test]
    fn the_program_goes_on_with_the_same_bytes() {
        static TABLE: [u64; 4096] = {
            let mut table = [0; 4096];
            let mut i = 0;
            while i < table.len() {
                table[i] = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                i += 1;
            }
            table
        };
        let sum = || std::hint::black_box(&TABLE).iter().fold(0u64, |sum, n| sum.wrapping_add(*n));
        let before = sum();
        let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
        assert!(!unchanged_files(&smaps).is_empty(), "the program's code is mapped");
        for _ in 0..3 {
            let_go_of_the_start();
            assert_eq!(sum(), before);
            assert_eq!(format!("{:?}", vec![Some("as ever")]), "[Some(\"as ever\")]");
        }
    }
}
