//! How much memory the process may count on: the limit of its control group, or half of the machine's.

use std::{fs, path::Path};

/// The limit of the control group (version 2 or 1) or half of the machine's memory, whichever is less, in bytes.
pub(super) fn usable_bytes() -> Option<u64> {
    usable_below(Path::new("/"))
}

/// The same, with `/proc` and `/sys` below this folder.
fn usable_below(root: &Path) -> Option<u64> {
    let half =
        fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| total(&text)).map(|n| n / 2);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limit = groups.lines().filter_map(|line| group_limit(root, line)).min();
    [half, limit].into_iter().flatten().min()
}

/// `MemTotal:  16303428 kB` (proc(5)).
fn total(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit that one line of `/proc/self/cgroup` (cgroups(7)) leads to: the least of the group and those above it.
fn group_limit(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (base, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        list if list.split(',').any(|name| name == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let base = root.join(base);
    // In a container the path may be that of the host, which is not to be seen there: then the root's limit counts.
    let mut limits = Vec::new();
    let mut at = Path::new(path.trim_start_matches('/'));
    loop {
        limits.extend(
            fs::read_to_string(base.join(at).join(file)).ok().and_then(|t| t.trim().parse::<u64>().ok()),
        );
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    limits.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        usable_below(root.path())
    }

    #[test]
    fn the_least_of_half_the_machine_and_the_groups_counts() {
        let memory = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:   4096 kB\n");
        assert_eq!(machine(&[]), None);
        assert_eq!(machine(&[memory]), Some(2048 * 1024));
        let own = ("proc/self/cgroup", "0::/a/b\n");
        let (above, below) =
            (("sys/fs/cgroup/a/memory.max", "1000000\n"), ("sys/fs/cgroup/a/b/memory.max", "max\n"));
        assert_eq!(machine(&[memory, own, above, below]), Some(1_000_000));
        let old = ("proc/self/cgroup", "5:cpu:/x\n4:memory:/not/seen/here\n");
        let limit = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n");
        assert_eq!(machine(&[memory, old, limit]), Some(500_000));
    }
}
