//! The program killed again and again while events flow: it starts anew, and its files hold whole lines up to the last.

use crate::{
    agent::{Lines, Work, free_port},
    flow::netcat_to_files,
};

const KILLS: usize = 5;

#[test]
fn after_each_kill_it_starts_again_and_goes_on() {
    let work = Work::new();
    work.make_folder("out");
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port)));
    for round in 0..KILLS {
        let mut agent = work.agent(&[]);
        let mut client = Lines::connect(port);
        for i in 0..50 {
            assert_eq!(client.send(&format!("round {round} line {i}")).unwrap(), "OK");
        }
        let first = format!("round {round} line 0");
        agent.wait("this round's first line", || work.lines_below("out").contains(&first));
        agent.signal("KILL");
        assert_eq!(agent.end(), -9);
    }
    let lines = work.lines_below("out");
    for round in 0..KILLS {
        let own: Vec<_> = lines.iter().filter(|line| line.starts_with(&format!("round {round} "))).collect();
        // What was in memory is gone, by design; what is there came in order, each line once.
        for (i, line) in own.iter().enumerate() {
            assert!(format!("round {round} line {i}").starts_with(line.as_str()), "{line}");
        }
    }
}
