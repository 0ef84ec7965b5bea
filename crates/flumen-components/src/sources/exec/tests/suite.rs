//! The contract of sources, with a command that writes what a file has and empties it.

use super::*;
use flumen_core::{
    source::DynSource,
    testing::{SourcePeer, SourceSuite},
};
use std::{fs::OpenOptions, io::Write, ops::Range, path::PathBuf};

struct Peer {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl SourcePeer for Peer {
    fn source(&self) -> Box<dyn DynSource> {
        let file = self.file.display();
        let command = format!("cat {file} && : > {file}; exec sleep 1000");
        Box::new(source(&[("shell", "/bin/sh -c"), ("command", &command), ("batchTimeout", "5")]))
    }

    fn offer(&self, numbers: Range<u64>) {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.file).unwrap();
        numbers.for_each(|number| writeln!(file, "{number}").unwrap());
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        None
    }

    fn offers_again(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn the_contract_of_sources_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers");
    SourceSuite::new(Peer { _folder: folder, file }).run().await;
}
