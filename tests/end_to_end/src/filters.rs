//! Config filters in a real agent: what they give is used, and seen nowhere.

use crate::{
    agent::{Work, program, root},
    flow::netcat_to_files,
};

#[test]
fn cfg_50_directories_come_from_the_environment_a_program_and_a_credential_store() {
    let work = Work::new();
    // What the store holds under its two names is the name of a folder here.
    let folders = ["by-env", "by-external", "s3cr3t!"];
    folders.iter().for_each(|folder| _ = work.make_folder(folder));
    let store = root().join("tests/parity/golden/keystores/stores/hadoop-credentials.jceks");
    let mut text = format!(
        "a.sources = r\na.channels = c1 c2 c3\na.sinks = k1 k2 k3\na.configfilters = e x h\n\
         a.configfilters.e.type = env\na.configfilters.x.type = external\na.configfilters.x.command = echo\n\
         a.configfilters.h.type = hadoop\na.configfilters.h.credential.provider.path = jceks://file{}\n\
         a.sources.r.type = seq\na.sources.r.totalEvents = 100\na.sources.r.channels = c1 c2 c3\n\
         a.sinks.k1.sink.directory = ${{e[\"OUT_FOLDER\"]}}\na.sinks.k2.sink.directory = @DIR@/${{x['by-external']}}\n\
         a.sinks.k3.sink.directory = @DIR@/${{h[ssl.keystore.password]}}\n",
        store.display()
    );
    for i in 1..=3 {
        text += &format!(
            "a.channels.c{i}.type = memory\na.sinks.k{i}.type = file_roll\na.sinks.k{i}.channel = c{i}\n\
             a.sinks.k{i}.sink.rollInterval = 0\n"
        );
    }
    work.write("a.conf", &text);
    let by_env = work.path("by-env").display().to_string();
    let words = ["agent", "-n", "a", "-f", "a.conf", "-Dorg.apache.flume.log.printconfig=true"];
    let mut agent = work.start_with(program(), &words, &[("OUT_FOLDER", &by_env)]);
    let numbers: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    for folder in folders {
        agent.wait(folder, || work.lines_below(folder) == numbers);
        assert_eq!(std::fs::read_dir(work.path(folder)).unwrap().count(), 1, "{folder}");
    }
    assert_eq!(agent.stop(), 0);
    assert!(agent.log().contains("a.sinks.k3.sink.directory = "), "{}", agent.log());
    assert!(!agent.log().contains("s3cr3t!"), "{}", agent.log());
}

#[test]
fn what_a_filter_gives_is_not_in_the_error_of_a_component_that_fails_with_it() {
    let work = Work::new();
    let text = netcat_to_files(0).replace("bind = 127.0.0.1", "bind = ${e[\"GATE\"]}");
    work.write(
        "a.conf",
        &format!(
            "{text}a.configfilters = e\na.configfilters.e.type = env\na.sinks.k.sink.directory = @DIR@\n"
        ),
    );
    let words = ["agent", "-n", "a", "-f", "a.conf"];
    let mut agent = work.start_with(program(), &words, &[("GATE", "hush-hush.invalid")]);
    agent.wait_for_log("source r failed");
    assert!(!agent.log().contains("hush"), "{}", agent.log());
    assert_eq!(agent.stop(), 0);
}
