//! Class paths and plug-in folders of Java: each jar is named as one that cannot be loaded, with what replaces it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Jars that are named one by one; of more only the number is told.
const MAX_NAMED: usize = 50;
/// Entries of a folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// What stands in for jars whose names contain a word.
const REPLACED: &[(&str, &str)] = &[
    ("flume-ng-", "Flume's own components are built in: `flumen components` lists them"),
    ("flume-", "Flume's own components are built in where `flumen components` lists them"),
    ("kafka", "the Kafka components need no client jar"),
    ("hadoop", "the HDFS sink needs no Hadoop jars"),
    ("hbase", "the HBase sinks need no client jar"),
    ("hive", "the Hive sink needs no client jar"),
    ("zookeeper", "ZooKeeper is spoken natively"),
    ("jmx_prometheus", "-Dflume.monitoring.type=prometheus serves metrics"),
    ("prometheus", "-Dflume.monitoring.type=prometheus serves metrics"),
    ("log4j", "logging is built in, and reads log4j2.xml and log4j.properties"),
    ("slf4j", "logging is built in"),
    ("mysql", "database drivers are built in where a component needs one"),
    ("postgresql", "database drivers are built in where a component needs one"),
    ("ojdbc", "there is no Oracle driver"),
    ("derby", "the database channel brings its own database"),
];
const OTHER: &str = "a component of one's own is written in Rust, or runs as a program of its own behind an Avro or HTTP \
                     source or sink";

/// What class paths and plug-in folders hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// One line for each jar that cannot be loaded.
    pub(super) notes: Vec<String>,
    /// Folders: `classpath:` addresses are looked for in them too.
    pub(super) folders: Vec<PathBuf>,
}

/// Looks at a class path: jars, folders, and `folder/*`, with colons between.
pub(super) fn class_path(path: &str, origin: &str, found: &mut Found) {
    let mut jars = Vec::new();
    for entry in path.split(':').filter(|entry| !entry.is_empty()) {
        if let Some(folder) = entry.strip_suffix("/*") {
            jars.extend(jars_in(Path::new(folder)));
        } else if entry.ends_with(".jar") {
            jars.push(PathBuf::from(entry));
        } else {
            found.folders.push(entry.into());
        }
    }
    tell(&jars, origin, found);
}

/// Looks at folders of plug-ins: `PLUGIN/lib`, `PLUGIN/libext`, `PLUGIN/native`.
pub(super) fn plugins(folders: &str, found: &mut Found) {
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        for plugin in entries(Path::new(folder)).into_iter().filter(|path| path.is_dir()) {
            let mut jars = jars_in(&plugin.join("lib"));
            jars.extend(jars_in(&plugin.join("libext")));
            jars.extend(entries(&plugin.join("native")).into_iter().filter(|path| path.is_file()));
            tell(&jars, &format!("plug-in {}", plugin.display()), found);
            found.folders.push(plugin);
        }
    }
}

fn tell(jars: &[PathBuf], origin: &str, found: &mut Found) {
    for jar in jars.iter().take(MAX_NAMED) {
        let name = jar.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let instead =
            REPLACED.iter().find(|(part, _)| name.contains(part)).map_or(OTHER, |(_, instead)| instead);
        found
            .notes
            .push(format!("{origin}: {} is Java code, which cannot be loaded; {instead}", jar.display()));
    }
    if let Some(more) = jars.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        found.notes.push(format!("{origin}: and {more} more that cannot be loaded"));
    }
}

fn jars_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "jar")).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = read.take(MAX_ENTRIES).map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jar_is_named_with_what_replaces_it() {
        let root = tempfile::tempdir().unwrap();
        let lib = root.path().join("mine/lib");
        fs::create_dir_all(&lib).unwrap();
        for name in ["flume-ng-core-1.9.0.jar", "my-sink.jar", "readme.txt"] {
            fs::write(lib.join(name), "").unwrap();
        }
        let mut found = Found::default();
        plugins(root.path().to_str().unwrap(), &mut found);
        class_path(&format!("/etc/conf:{}/*:/x/kafka-clients.jar", lib.display()), "--classpath", &mut found);
        assert_eq!(found.notes.len(), 5, "{:?}", found.notes);
        assert!(found.notes[0].contains("flume-ng-core-1.9.0.jar is Java code"), "{:?}", found.notes);
        assert!(found.notes[1].contains("my-sink.jar") && found.notes[1].contains("written in Rust"));
        assert_eq!(found.folders, [root.path().join("mine"), PathBuf::from("/etc/conf")]);
    }
}
