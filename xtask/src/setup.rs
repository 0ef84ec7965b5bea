//! `xtask setup`: what the build needs from the system, installed where we may, named precisely where we may not.

use crate::{Outcome, shell};

/// A program of the system that a build or a test needs.
struct Need {
    program: &'static str,
    /// Not a program but a header of a library, which is there if one of these files is.
    header: &'static [&'static str],
    why: &'static str,
    /// Packages by package manager, in the order of [`MANAGERS`].
    packages: [&'static str; MANAGERS.len()],
    /// Whether the tree needs it now, by the text of Cargo.lock.
    when: fn(&str) -> bool,
    /// Without it a test is skipped, and says so.
    optional: bool,
}

/// Package managers that we know, and how each installs.
const MANAGERS: [(&str, &str); 3] = [
    ("apt-get", "apt-get install --yes --no-install-recommends"),
    ("dnf", "dnf install -y"),
    ("apk", "apk add"),
];

const NEEDS: &[Need] = &[
    Need {
        program: "cc",
        header: &[],
        why: "links every binary, and compiles the C parts of the TLS library",
        packages: ["gcc libc6-dev", "gcc glibc-devel", "gcc musl-dev"],
        when: |_| true,
        optional: false,
    },
    Need {
        program: "git",
        header: &[],
        why: "tells `xtask tidy` and `xtask mutants` which files are ours",
        packages: ["git", "git", "git"],
        when: |_| true,
        optional: false,
    },
    Need {
        program: "c++",
        header: &[],
        why: "compiles the C++ parts of the Kafka client",
        packages: ["g++", "gcc-c++", "g++"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "make",
        header: &[],
        why: "builds the bundled Kafka client",
        packages: ["make", "make", "make"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "python3",
        header: &[],
        why: "is called by the build of the Kafka client",
        packages: ["python3", "python3", "python3"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "pkg-config",
        header: &[],
        why: "finds the libraries that the Kafka client uses",
        packages: ["pkg-config", "pkgconf-pkg-config", "pkgconf"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "OpenSSL",
        header: &["/usr/include/openssl/ssl.h", "/usr/local/include/openssl/ssl.h"],
        why: "gives the Kafka client its TLS",
        packages: ["libssl-dev", "openssl-devel", "openssl-dev"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "SASL",
        header: &["/usr/include/sasl/sasl.h", "/usr/local/include/sasl/sasl.h"],
        why: "gives the Kafka client its Kerberos",
        packages: ["libsasl2-dev", "cyrus-sasl-devel", "cyrus-sasl-dev"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "zlib",
        header: &["/usr/include/zlib.h", "/usr/local/include/zlib.h"],
        why: "gives the Kafka client its gzip",
        packages: ["zlib1g-dev", "zlib-devel", "zlib-dev"],
        when: |lock| has(lock, "rdkafka-sys"),
        optional: false,
    },
    Need {
        program: "cmake",
        header: &[],
        why: "builds a bundled C library",
        packages: ["cmake", "cmake", "cmake"],
        // The TLS library brings ready build rules for the common platforms, and wants cmake on the others.
        when: |lock| has(lock, "aws-lc-sys") && !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        optional: false,
    },
    Need {
        program: "rsyslogd",
        header: &[],
        why: "sends to the syslog sources in a test",
        packages: ["rsyslog", "rsyslog", "rsyslog"],
        when: |_| true,
        optional: true,
    },
    Need {
        program: "logger",
        header: &[],
        why: "sends to the syslog sources in a test",
        packages: ["bsdutils", "util-linux", "logger"],
        when: |_| true,
        optional: true,
    },
];

pub(crate) fn task(arguments: &[String]) -> Outcome {
    match arguments {
        [] => ensure(true, true),
        [flag] if flag == "--check" => ensure(false, true),
        _ => Err("usage: setup [--check]".to_owned()),
    }
}

/// Installs what is missing, where this is root on a system with apt-get; else says which command does it. What only some tests
/// use is `optional`.
pub(crate) fn ensure(may_install: bool, optional: bool) -> Outcome {
    let lock = std::fs::read_to_string(shell::root().join("Cargo.lock"))
        .map_err(|error| format!("cannot read Cargo.lock: {error}"))?;
    let missing: Vec<&Need> = NEEDS
        .iter()
        .filter(|need| (optional || !need.optional) && (need.when)(&lock) && !is_there(need))
        .collect();
    if missing.is_empty() {
        println!("setup: everything that the build needs is there");
        return Ok(());
    }
    let manager = MANAGERS.iter().position(|(program, _)| shell::is_installed(program));
    let may_install = may_install && manager == Some(0) && is_root();
    let (optional, needed): (Vec<&Need>, Vec<&Need>) = missing.into_iter().partition(|need| need.optional);
    if may_install {
        let updated =
            shell::run(shell::command("apt-get").env("DEBIAN_FRONTEND", "noninteractive").arg("update"));
        // What is only optional is tried with the lists that are there.
        updated.or_else(|why| if needed.is_empty() { Ok(()) } else { Err(why) })?;
    }
    for (missing, optional) in [(needed, false), (optional, true)] {
        if missing.is_empty() {
            continue;
        }
        let command = install_command(&missing, manager.unwrap_or(0));
        let result = if may_install {
            let mut words = command.split(' ');
            let program = words.next().unwrap_or_default();
            shell::run(shell::command(program).env("DEBIAN_FRONTEND", "noninteractive").args(words))
        } else {
            let listed: Vec<String> =
                missing.iter().map(|need| format!("\n  {} ({})", need.program, need.why)).collect();
            Err(format!("the system lacks:{}\ninstall with: {command}", listed.concat()))
        };
        match result {
            Err(why) if optional => shell::loud(&format!("{why}\nwithout it some tests are skipped")),
            result => result?,
        }
    }
    Ok(())
}

/// Whether the program is in the path, or the header in one of its places.
fn is_there(need: &Need) -> bool {
    match need.header {
        [] => shell::is_installed(need.program),
        places => places.iter().any(|place| std::path::Path::new(place).exists()),
    }
}

fn install_command(missing: &[&Need], manager: usize) -> String {
    let packages: Vec<&str> = missing.iter().map(|need| need.packages[manager]).collect();
    format!("{} {}", MANAGERS[manager].1, packages.join(" "))
}

fn is_root() -> bool {
    shell::output(shell::command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn has(lock: &str, library: &str) -> bool {
    lock.contains(&format!("name = \"{library}\""))
}

/// What the interop tests need beside the build; nothing where it is there.
pub(crate) fn missing_for_interop() -> Option<String> {
    let missing: Vec<&str> =
        ["java", "javac", "mvn"].into_iter().filter(|one| !shell::is_installed(one)).collect();
    (!missing.is_empty()).then(|| {
        format!("{} not there; on Debian: apt-get install openjdk-17-jdk-headless maven", missing.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_command() {
        let missing: Vec<&Need> = NEEDS.iter().filter(|need| matches!(need.program, "cc" | "make")).collect();
        assert_eq!(
            install_command(&missing, 0),
            "apt-get install --yes --no-install-recommends gcc libc6-dev make"
        );
        assert_eq!(install_command(&missing, 1), "dnf install -y gcc glibc-devel make");
    }

    #[test]
    fn only_what_the_tree_uses_is_needed() {
        let sasl = NEEDS.iter().find(|need| need.program == "SASL").unwrap();
        assert!(!(sasl.when)("name = \"rustls\"\n"));
        assert!((sasl.when)("name = \"rdkafka-sys\"\n"));
    }

    #[test]
    fn a_library_is_there_where_its_header_is() {
        let sasl = NEEDS.iter().find(|need| need.program == "SASL").unwrap();
        let here = &["/nowhere.h", concat!(env!("CARGO_MANIFEST_DIR"), "/src/setup.rs")];
        assert!(is_there(&Need { header: here, ..*sasl }));
        assert!(!is_there(&Need { header: &["/nowhere.h"], ..*sasl }));
    }
}
