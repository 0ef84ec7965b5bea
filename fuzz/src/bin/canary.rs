//! Proves that the harness can fail: two parsers with a planted bug, which must be found. Exit status 1 if one is not.

use fuzz::Target;
use std::process::ExitCode;

const ROUNDS: usize = 20_000;

/// Trusts a count from outside.
fn trusting(input: &[u8]) {
    if let [b'#', count, rest @ ..] = input {
        assert!(usize::from(*count) <= rest.len() + 64, "planted: more than there is");
    }
}

/// Does not expect an escape at the end.
fn hasty(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Some(at) = text.rfind("${") {
        assert!(text[at..].contains('}') || text.len() < 4, "planted: no end");
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let canary = |name, run, texts| Target { name, run, seeds: &[], texts, max_len: 256 };
    let canaries =
        [canary("trusting", trusting as fn(&[u8]), &["#\u{1}a"][..]), canary("hasty", hasty, &["a${b}c"])];
    let mut missed = 0;
    for target in canaries {
        match target.fuzz(1, ROUNDS) {
            Err(finding) => {
                println!("{}: found: {} ({})", target.name, finding.what, fuzz::shown(&finding.input))
            }
            Ok(inputs) => {
                missed += 1;
                println!("{}: NOT found in {inputs} inputs", target.name);
            }
        }
    }
    ExitCode::from(u8::from(missed > 0))
}
