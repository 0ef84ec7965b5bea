//! Which crate may depend on which of ours: read from the manifests, compared with the table of ARCHITECTURE.md.

use super::Finding;
use crate::shell::Package;

/// A crate, and those of ours that it may depend on.
const MAY: &[(&str, &[&str])] = &[
    ("flumen-derive", &[]),
    ("flumen-wal", &[]),
    ("flumen-java", &[]),
    ("flumen-tls", &[]),
    ("flumen-core", &["flumen-derive"]),
    ("flumen-channels", &["flumen-core", "flumen-wal", "flumen-tls"]),
    ("flumen-rpc", &["flumen-core", "flumen-java", "flumen-tls"]),
    ("flumen-components", &["flumen-core", "flumen-rpc", "flumen-java", "flumen-tls"]),
    ("flumen-kafka", &["flumen-core", "flumen-java", "flumen-tls"]),
    ("flumen-hadoop", &["flumen-core", "flumen-java", "flumen-tls"]),
    (
        "flumen-agent",
        &[
            "flumen-core",
            "flumen-derive",
            "flumen-java",
            "flumen-tls",
            "flumen-wal",
            "flumen-channels",
            "flumen-rpc",
            "flumen-components",
            "flumen-kafka",
            "flumen-hadoop",
        ],
    ),
    (
        "flumen-sim",
        &["flumen-core", "flumen-java", "flumen-wal", "flumen-channels", "flumen-components", "flumen-agent"],
    ),
];

/// Outside crates that a crate of ours keeps away from, and why.
const MUST_NOT: &[(&str, &str, &str)] = &[("flumen-wal", "tokio", "the log is synchronous")];

pub(super) fn check(packages: &[Package], findings: &mut Vec<Finding>) {
    for package in packages.iter().filter(|package| package.manifest.starts_with("crates/")) {
        let Some((_, may)) = MAY.iter().find(|(name, _)| *name == package.name) else {
            let what = format!("`{}` is not in the table of xtask/src/tidy/direction.rs", package.name);
            findings.push(Finding::new(&package.manifest, 0, what));
            continue;
        };
        for dependency in &package.dependencies {
            let is_ours = packages.iter().any(|other| other.name == *dependency);
            if is_ours && !may.contains(&dependency.as_str()) {
                let what = format!("`{}` must not depend on `{dependency}`", package.name);
                findings.push(Finding::new(&package.manifest, 0, what));
            }
            for (_, _, why) in MUST_NOT.iter().filter(|(of, on, _)| package.name == *of && dependency == on) {
                let what = format!("`{}` must not depend on `{dependency}`: {why}", package.name);
                findings.push(Finding::new(&package.manifest, 0, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|&one| one.to_owned()).collect();
        let manifest = format!("crates/{name}/Cargo.toml");
        Package { name: name.to_owned(), manifest, dependencies, targets: Vec::new() }
    }

    #[test]
    fn the_way_down_is_fine() {
        let packages =
            [package("flumen-core", &["flumen-derive", "bytes"]), package("flumen-derive", &["syn"])];
        assert!(said(|findings| check(&packages, findings)).is_empty());
    }

    #[test]
    fn the_way_up_a_stranger_and_an_unwanted_library_are_found() {
        let packages = [
            package("flumen-core", &["flumen-channels"]),
            package("flumen-channels", &["flumen-core"]),
            package("flumen-wal", &["tokio"]),
            package("flumen-extra", &[]),
        ];
        assert_eq!(
            said(|findings| check(&packages, findings)),
            [
                "crates/flumen-core/Cargo.toml: `flumen-core` must not depend on `flumen-channels`",
                "crates/flumen-extra/Cargo.toml: `flumen-extra` is not in the table of xtask/src/tidy/direction.rs",
                "crates/flumen-wal/Cargo.toml: `flumen-wal` must not depend on `tokio`: the log is synchronous",
            ]
        );
    }
}
