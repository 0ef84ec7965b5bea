//! Reads key store files: whole, and no more than a key store may have.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::MAX_STORE_BYTES;

/// Reads a file of at most [`MAX_STORE_BYTES`] bytes; of a longer one a byte more, which makes opening it fail with the
/// reason.
pub(crate) fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len().min(MAX_STORE_BYTES as u64) as usize;
    let mut bytes = Zeroizing::new(Vec::with_capacity(length + 1));
    file.take(MAX_STORE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
