//! `xtask run`: builds the program, runs `conf/quickstart.conf`, sends events and shows them arriving.

use std::io::{IsTerminal, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::{Outcome, setup, shell};

const CONFIGURATION: &str = "conf/quickstart.conf";
const AGENT: &str = "quickstart";

/// Where the file sink writes, as the configuration says.
const FILES: &str = "target/quickstart";

const HTTP_PORT: u16 = 44480;
const LINES_PORT: u16 = 44444;

/// How long the agent may take to open its ports, and an event to arrive.
const LIMIT: Duration = Duration::from_secs(20);

/// How long the flow stays up when nobody sits at a terminal.
const UNATTENDED_S: u64 = 2;

pub(crate) fn task(arguments: &[String]) -> Outcome {
    let seconds = shell::number(arguments, "--seconds")?;
    setup::ensure(true, false)?;
    shell::run(shell::cargo().args(["build", "--package", "flumen-agent", "--bin", "flumen"]))?;
    let program = shell::binary("flumen")?;
    let files = fresh_folder()?;
    let (configuration, http, lines) = configuration()?;
    let mut child = shell::command(&program.to_string_lossy())
        .args(["agent", "-n", AGENT, "-f"])
        .arg(&configuration)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let shown =
        demonstrate(&mut child, http, lines, &files).and_then(|()| stay(&mut child, seconds, http, lines));
    let stopped = stop(&mut child);
    shown.and(stopped)
}

/// Sends events both ways and waits until the file sink has written them.
fn demonstrate(child: &mut Child, http: SocketAddr, lines: SocketAddr, files: &Path) -> Outcome {
    wait_for(child, "the HTTP source to listen", || connect(http).is_ok())?;
    wait_for(child, "the netcat source to listen", || connect(lines).is_ok())?;
    println!("\n---- sending one event by HTTP and two lines by TCP ----");
    post(http, r#"[{"headers": {"from": "xtask"}, "body": "hello by HTTP"}]"#)?;
    send_lines(lines, &["hello by TCP", "and once more"])?;
    let expected = ["hello by HTTP", "hello by TCP", "and once more"];
    wait_for(child, "the events to arrive in a file", || {
        let written = written(files);
        expected.iter().all(|body| written.contains(body))
    })?;
    println!("\n---- all three were logged above by the logger sink, and {FILES}/ now holds ----");
    print!("{}", written(files));
    Ok(())
}

/// Leaves the flow running: for some seconds, or until Enter or Ctrl-C at a terminal.
fn stay(child: &mut Child, seconds: Option<u64>, http: SocketAddr, lines: SocketAddr) -> Outcome {
    println!("\n---- send one of your own ----");
    println!("curl -d '[{{\"body\": \"my event\"}}]' http://{http}/");
    let (ip, port) = (lines.ip(), lines.port());
    println!("bash -c \"exec 3<>/dev/tcp/{ip}/{port}; echo 'my event' >&3; head -n 1 <&3\"\n");
    let attended = std::io::stdin().is_terminal();
    match seconds.or((!attended).then_some(UNATTENDED_S)) {
        Some(seconds) => {
            let until = shell::now() + Duration::from_secs(seconds);
            while shell::now() < until {
                still_runs(child)?;
                shell::pause_ms(50);
            }
        }
        None => {
            println!("Enter or Ctrl-C stops it.\n");
            std::io::stdin().read_line(&mut String::new()).map_err(|error| format!("terminal: {error}"))?;
        }
    }
    Ok(())
}

/// Asks the agent to stop, as a service manager would, and waits.
fn stop(child: &mut Child) -> Outcome {
    if let Ok(None) = child.try_wait() {
        shell::output(shell::command("kill").args(["-TERM", &child.id().to_string()]))?;
    }
    let until = shell::now() + LIMIT;
    while shell::now() < until {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the agent ended with {status}")),
            Ok(None) => shell::pause_ms(20),
            Err(error) => return Err(format!("lost the agent: {error}")),
        }
    }
    child.kill().map_err(|error| format!("cannot end the agent: {error}"))?;
    Err(format!("the agent did not stop within {} s", LIMIT.as_secs()))
}

/// The configuration to run and its two addresses: the file itself, or a copy with free ports where its are taken.
fn configuration() -> Result<(PathBuf, SocketAddr, SocketAddr), String> {
    let path = shell::root().join(CONFIGURATION);
    let mut text = std::fs::read_to_string(&path).map_err(|error| format!("{CONFIGURATION}: {error}"))?;
    let mut addresses = Vec::new();
    for wanted in [HTTP_PORT, LINES_PORT] {
        let port = if is_free(wanted) { wanted } else { free_port()? };
        if port != wanted {
            println!("port {wanted} is in use: taking {port}");
        }
        text = text.replace(&format!("port = {wanted}\n"), &format!("port = {port}\n"));
        addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if addresses[0].port() == HTTP_PORT && addresses[1].port() == LINES_PORT {
        return Ok((path, addresses[0], addresses[1]));
    }
    let copy = shell::root().join("target/quickstart.conf");
    std::fs::write(&copy, text).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok((copy, addresses[0], addresses[1]))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn free_port() -> Result<u16, String> {
    let cannot = |error: std::io::Error| format!("no free port: {error}");
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|one| one.local_addr())
        .map(|it| it.port())
        .map_err(cannot)
}

fn fresh_folder() -> Result<PathBuf, String> {
    let folder = shell::root().join(FILES);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// All that the file sink has written.
fn written(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let stream = TcpStream::connect_timeout(&address, LIMIT).map_err(failed)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(failed)?;
    stream.set_write_timeout(Some(LIMIT)).map_err(failed)?;
    Ok(stream)
}

fn post(address: SocketAddr, body: &str) -> Outcome {
    let mut stream = connect(address)?;
    let length = body.len();
    println!("POST {body}");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    let mut answer = String::new();
    stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.read_to_string(&mut answer))
        .map_err(|error| format!("{address}: {error}"))?;
    let status = answer.lines().next().unwrap_or_default();
    println!("  {status}");
    if status.contains(" 200") { Ok(()) } else { Err(format!("the HTTP source answered `{status}`")) }
}

/// Sends lines and reads an answer for each.
fn send_lines(address: SocketAddr, lines: &[&str]) -> Outcome {
    let mut stream = connect(address)?;
    let failed = |error: std::io::Error| format!("{address}: {error}");
    for line in lines {
        println!("line {line}");
        stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        let mut answer = [0; 3];
        stream.read_exact(&mut answer).map_err(failed)?;
        if answer != *b"OK\n" {
            return Err(format!("the netcat source answered {:?}", String::from_utf8_lossy(&answer)));
        }
        println!("  OK");
    }
    Ok(())
}

fn wait_for(child: &mut Child, what: &str, mut is_so: impl FnMut() -> bool) -> Outcome {
    let until = shell::now() + LIMIT;
    while shell::now() < until {
        still_runs(child)?;
        if is_so() {
            return Ok(());
        }
        shell::pause_ms(20);
    }
    Err(format!("waited {} s for {what}", LIMIT.as_secs()))
}

fn still_runs(child: &mut Child) -> Outcome {
    match child.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(format!("the agent ended with {status}")),
        Err(error) => Err(format!("lost the agent: {error}")),
    }
}
