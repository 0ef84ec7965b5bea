//! `flumen channel peek` and `export`: the events that wait, in the order of their delivery. They stay where they are.

use super::{Chosen, Failure, Form, Progress, look, totals, waiting};
use base64ct::{Base64, Encoding};
use flumen_wal::{
    disk::OsDisk,
    replay::Recovered,
    tools::{self, WaitingEvent},
};
use serde_json::{Map, Value, json};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Shows the first ones.
pub(super) fn peek(
    chosen: &Chosen,
    form: Form,
    events: u64,
    bytes: usize,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let known = look(chosen)?;
    let recovered = waiting(chosen, known.as_ref())?;
    let mut out = BufWriter::new(out);
    let mut shown = 0;
    let lost = read(&recovered, &mut |event| {
        if shown == events {
            return Ok(false);
        }
        shown += 1;
        match form {
            Form::Text => writeln!(out, "{}", as_text(shown, event, bytes))?,
            Form::Json => writeln!(out, "{}", as_json(event))?,
        }
        Ok(shown < events)
    })?;
    if form == Form::Text {
        writeln!(out, "{shown} of {} events that wait", totals(&recovered).0)?;
    }
    out.flush()?;
    tell_lost(lost);
    Ok(lost == 0 && recovered.report.is_clean())
}

/// Writes all of them: as JSON with headers, or each body as a line.
pub(super) fn export(
    chosen: &Chosen,
    form: Form,
    output: Option<&Path>,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let known = look(chosen)?;
    let recovered = waiting(chosen, known.as_ref())?;
    let (total, _) = totals(&recovered);
    let mut progress = Progress::new("exporting", "events");
    let mut written = 0;
    let mut write_all = |out: &mut dyn Write| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let lost = read(&recovered, &mut |event| {
            match form {
                Form::Text => {
                    out.write_all(event.body)?;
                    out.write_all(b"\n")?;
                }
                Form::Json => writeln!(out, "{}", as_json(event))?,
            }
            written += 1;
            progress.show(written, total);
            Ok(true)
        })?;
        out.flush()?;
        Ok::<u64, Failure>(lost)
    };
    let lost = match output {
        None => write_all(out)?,
        Some(path) => {
            let mut file = Aside::new(path).map_err(Failure::disk(path))?;
            let lost = write_all(&mut file.file)?;
            file.finish().map_err(Failure::disk(path))?;
            lost
        }
    };
    drop(progress);
    if output.is_some() {
        writeln!(io::stderr(), "{written} events exported; they still wait in the channel")?;
    }
    tell_lost(lost);
    Ok(lost == 0 && recovered.report.is_clean())
}

fn read(
    recovered: &Recovered,
    each: &mut dyn FnMut(WaitingEvent<'_>) -> io::Result<bool>,
) -> Result<u64, Failure> {
    Ok(tools::events(&OsDisk, recovered, each)?)
}

fn tell_lost(lost: u64) {
    if lost > 0 {
        let _ = writeln!(io::stderr(), "warning: {lost} events cannot be read");
    }
}

/// A file that gets its name when it is whole. One that has the name already stays.
struct Aside {
    file: File,
    aside: PathBuf,
    path: PathBuf,
}

impl Aside {
    fn new(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is there already: name another file",
            ));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let aside = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&aside)?;
        Ok(Self { file, aside, path: path.to_owned() })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.aside, &self.path)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // What is not whole goes; after the renaming there is nothing of this name.
        let _ = fs::remove_file(&self.aside);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One line: number, place, headers, length, and the begin of the body. What a terminal would act on is written as escapes.
fn as_text(number: u64, event: WaitingEvent<'_>, most: usize) -> String {
    let headers: Vec<String> = event
        .headers
        .iter()
        .map(|(name, value)| format!("{}={}", shown(name, usize::MAX), shown(value, usize::MAX)))
        .collect();
    let (len, body) = (event.body.len(), shown(event.body, most));
    let more = if len > most { " …" } else { "" };
    format!("{number}  {}  {{{}}}  {len} bytes: {body}{more}", event.place, headers.join(", "))
}

fn shown(bytes: &[u8], most: usize) -> String {
    let bytes = &bytes[..bytes.len().min(most)];
    let mut out = String::with_capacity(bytes.len());
    for c in text(bytes).chars() {
        if c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// `{"headers": {...}, "body": "…"}`, the body in Base64. Of a name that comes twice the last value counts.
fn as_json(event: WaitingEvent<'_>) -> Value {
    let headers: Map<String, Value> =
        event.headers.iter().map(|(name, value)| (text(name), Value::String(text(value)))).collect();
    json!({ "headers": headers, "body": Base64::encode_string(event.body) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_as_escapes() {
        assert_eq!(shown(b"a\x1b[2Jb\n\xff\xe2\x80\xae.", 100), "a\\u{1b}[2Jb\\n\u{fffd}\\u{202e}.");
        assert_eq!(shown("é€".as_bytes(), 3), "é\u{fffd}");
    }
}
