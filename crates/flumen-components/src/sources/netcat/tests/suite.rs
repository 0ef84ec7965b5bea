//! The contract of sources, with a peer that sends each line until it is answered with OK.

use super::*;

#[derive(Default)]
struct Lines {
    waiting: Mutex<VecDeque<u64>>,
    acknowledged: Mutex<Vec<u64>>,
    address: Mutex<Option<watch::Receiver<Option<SocketAddr>>>>,
}

struct Peer {
    lines: Arc<Lines>,
    /// The client ends with the peer.
    _client: JoinSet<()>,
}

impl Peer {
    fn new() -> Self {
        let lines = Arc::new(Lines::default());
        let mut client = JoinSet::new();
        client.spawn(send_all(lines.clone()));
        Self { lines, _client: client }
    }
}

impl SourcePeer for Peer {
    fn source(&self) -> Box<dyn DynSource> {
        let source = source(&[]);
        *self.lines.address.lock().unwrap() = Some(source.address());
        Box::new(source)
    }

    fn offer(&self, numbers: std::ops::Range<u64>) {
        self.lines.waiting.lock().unwrap().extend(numbers);
    }

    fn acknowledged(&self) -> Option<Vec<u64>> {
        Some(self.lines.acknowledged.lock().unwrap().clone())
    }

    fn offers_again(&self) -> bool {
        true
    }
}

/// Sends what waits to the source of the moment, over and over.
async fn send_all(lines: Arc<Lines>) {
    let address = || lines.address.lock().unwrap().as_ref().and_then(|address| *address.borrow());
    loop {
        // Longer than the limit without work: the test is over.
        until("work", || !lines.waiting.lock().unwrap().is_empty() && address().is_some()).await;
        if let Some(address) = address() {
            // A refused or broken connection: the next source, or the same, gets the rest.
            let _ = send(&lines, address).await;
        }
    }
}

async fn send(lines: &Lines, address: SocketAddr) -> std::io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let text: String = lines.waiting.lock().unwrap().iter().map(|n| format!("{n}\n")).collect();
    stream.write_all(text.as_bytes()).await?;
    let n_lines = text.lines().count();
    let mut failed = VecDeque::new();
    for _ in 0..n_lines {
        let mut answer = String::new();
        if stream.read_line(&mut answer).await? == 0 {
            break;
        }
        let mut waiting = lines.waiting.lock().unwrap();
        let Some(number) = waiting.pop_front() else { break };
        match answer.as_str() {
            "OK\n" => lines.acknowledged.lock().unwrap().push(number),
            _ => failed.push_back(number),
        }
    }
    let mut waiting = lines.waiting.lock().unwrap();
    failed.append(&mut waiting);
    *waiting = failed;
    Ok(())
}

#[tokio::test]
async fn the_contract_of_sources_is_kept() {
    SourceSuite::new(Peer::new()).run().await;
}
