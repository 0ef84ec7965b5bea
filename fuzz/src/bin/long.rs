//! `long TARGET SECONDS [SEED]`: runs a target with ever new seeds; a finding is written to `fuzz/corpus/TARGET`.

use std::{fs, path::Path, process::ExitCode, time::Duration};

/// Changed inputs of a seed.
const ROUNDS: usize = 2_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let target = arguments.first().and_then(|name| fuzz::TARGETS.iter().find(|target| target.name == name));
    let (Some(target), Some(seconds)) = (target, number(1)) else {
        let names: Vec<&str> = fuzz::TARGETS.iter().map(|target| target.name).collect();
        eprintln!("usage: long TARGET SECONDS [SEED]; targets: {}", names.join(" "));
        return ExitCode::from(2);
    };
    #[expect(clippy::disallowed_methods, reason = "the time that a person gave")]
    let start = std::time::Instant::now();
    let (mut seed, mut inputs) = (number(2).unwrap_or(2), 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        match target.fuzz(seed, ROUNDS) {
            Ok(n) => inputs += n,
            Err(finding) => {
                println!(
                    "{} at seed {seed}: {}\n  input: {}",
                    target.name,
                    finding.what,
                    fuzz::shown(&finding.input)
                );
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
                let file = folder.join(format!("seed-{seed}"));
                let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &finding.input));
                println!(
                    "  {}",
                    written.map_or_else(|error| error.to_string(), |()| file.display().to_string())
                );
                return ExitCode::from(1);
            }
        }
        seed += 1;
    }
    println!("{}: {inputs} inputs, no finding", target.name);
    ExitCode::SUCCESS
}
