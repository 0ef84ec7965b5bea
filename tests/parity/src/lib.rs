//! What Java Flume has and does, as lists and files that tests compare Flumen with. The tests are in `tests/`.

/// The rows of a tab-separated list in this crate's folder, without remarks and without its header.
///
/// # Panics
/// There is no such list.
pub fn rows(list: &str) -> Vec<Vec<String>> {
    let path = format!("{}/{list}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}
