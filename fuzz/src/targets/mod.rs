//! The targets, one a parser.

mod config;
mod events;
mod files;
mod java;
mod keys;
mod rpc;
mod start;
mod syslog;
mod wal;

use crate::Target;

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    Target {
        name: "avro_file",
        run: files::avro_file,
        seeds: &["tests/parity/fixtures/sinks"],
        texts: &[
            "Obj\u{1}\u{2}\u{16}avro.schema\u{c}\"null\"\u{0}0123456789abcdef\u{4}\u{0}0123456789abcdef",
        ],
        max_len: 8_192,
    },
    Target {
        name: "avro_message",
        run: rpc::avro_message,
        seeds: &["crates/flumen-rpc/src/avro/protocol.json"],
        texts: &[
            "\0\u{c}append\0\u{6}one",
            "0123456789abcdef\0fedcba9876543210\u{2}\0\0\u{16}appendBatch\u{4}\u{2}\u{2}a\u{2}1\0\u{a}hello\0\u{2}x\0",
        ],
        max_len: 4_096,
    },
    Target {
        name: "avro_server",
        run: rpc::avro_server,
        seeds: &[
            "tests/parity/fixtures/rpc/avro-append",
            "tests/parity/fixtures/rpc/avro-batch",
            "tests/parity/fixtures/rpc/avro-evolved-client",
            "tests/parity/fixtures/rpc/avro-unicode",
            "tests/parity/fixtures/rpc/avro-unknown-client",
        ],
        texts: &[],
        max_len: 16_384,
    },
    Target {
        name: "charset",
        run: java::charset,
        seeds: &[],
        texts: &[
            "UTF-8\nh\u{e9}llo \u{1F600}",
            "Shift_JIS\nabc",
            "UTF-16\nabcd",
            "GB18030\nabcd",
            "ISO-2022-JP\n\u{1b}$B",
        ],
        max_len: 4_096,
    },
    Target {
        name: "configuration",
        run: config::plan,
        seeds: &["conf", "tests/parity/golden/properties/files"],
        texts: &[
            "a.sources=r\na.channels=c\na.sinks=k\na.sources.r.type=seq\na.sources.r.channels=c\na.channels.c.type=memory\na.sinks.k.type=null\na.sinks.k.channel=c\n",
            "a.sinkgroups=g\na.sinkgroups.g.sinks=k l\na.sinkgroups.g.processor.type=failover\na.sinkgroups.g.processor.priority.k=5\n",
        ],
        max_len: 16_384,
    },
    Target {
        name: "dates",
        run: java::dates,
        seeds: &[],
        texts: &[
            "yyyy-MM-dd'T'HH:mm:ss.SSSZ\n2024-02-29T23:59:59.999+0100",
            "EEE, d MMM yyyy HH:mm:ss z\nWed, 4 Jul 2001 12:08:56 PDT",
            "YYYY-'W'ww-u\n2009-W01-1",
            "hh 'o''clock' a, zzzz\n12 o'clock PM, Pacific Daylight Time",
            "GGGG yyyyyyyyyy DDD F k K X XXX\nAD 0000002024",
        ],
        max_len: 1_024,
    },
    Target {
        name: "flume_env",
        run: start::flume_env,
        seeds: &[],
        texts: &[
            "export JAVA_OPTS=\"-Xmx1g ${JAVA_OPTS:-none}\"\nA=$A$A B='x'\nif true; then C=1; fi\n",
            "A=x\nA=$A$A$A$A$A$A$A$A\nA=$A$A$A$A$A$A$A$A\nA=$A$A$A$A$A$A$A$A\nA=$A$A$A$A$A$A$A$A\nA=$A$A$A$A$A$A$A$A\n",
        ],
        max_len: 16_384,
    },
    Target {
        name: "http_json",
        run: events::http_json,
        seeds: &[],
        texts: &[
            "application/json\n[{\"headers\":{\"a\":\"1\",\"b\":null},\"body\":\"x\\u00e9\\ud83d\\ude00\"},{}]",
            "text/plain; charset=utf-16\n\0[\0]",
            "\n/* c */ [{headers=[[a,b]];body=>\'x\\n\'}] // end",
            "a\n)]}\'\n[{\"x\":[[{}]],\"body\":1.5e3}]",
        ],
        max_len: 8_192,
    },
    Target {
        name: "http_query",
        run: events::http_query,
        seeds: &[],
        texts: &["a=1&b=x+y%2Bz&&c&a=2&%C3%BC=%ff&=v"],
        max_len: 1_024,
    },
    Target {
        name: "key_store",
        run: keys::key_store,
        seeds: &["tests/parity/golden/keystores/stores"],
        texts: &[],
        max_len: 16_384,
    },
    Target {
        name: "lines",
        run: files::lines,
        seeds: &[],
        texts: &[
            "UTF-8 replace\nline\n\u{e9}\u{65e5}\u{1F600}\nlast",
            "UTF-8 fail\nline one\n\nline three\n",
            "ISO-8859-1 ignore\na\nbcdefgh\n",
            "UTF-16 replace\n\0a\0\n\0b",
            "Shift_JIS ignore\nabc\ndef",
            "ISO-2022-JP replace\n\u{1b}$B%F\u{1b}(B\nx",
        ],
        max_len: 2_048,
    },
    Target {
        name: "exec_lines",
        run: events::lines,
        seeds: &[],
        texts: &[
            "\0\0-a\nb\r\nc\rd\n\ne\r\r\nf",
            "\u{5}\u{2}la\0\n\0b\0",
            "\0\u{9}u\u{1}\u{2}a\0\n\0",
            "\0\u{1}i\u{1b}$B$\"\u{1b}(B\n",
        ],
        max_len: 4_096,
    },
    Target {
        name: "log4j_properties",
        run: start::log4j_properties,
        seeds: &[],
        texts: &["x=${x}${x}\nlog4j.rootLogger=${x},A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\n"],
        max_len: 16_384,
    },
    Target {
        name: "log4j_xml",
        run: start::log4j_xml,
        seeds: &[],
        texts: &[
            "<Configuration><Properties><Property name='p'>${p}${p}</Property></Properties><Loggers><Root level='${p}'/></Loggers></Configuration>",
            "<!DOCTYPE c [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><Configuration>&b;</Configuration>",
        ],
        max_len: 16_384,
    },
    Target {
        name: "lookups",
        run: start::lookups,
        seeds: &["tests/parity/golden/properties/files"],
        texts: &[
            "a=${b}\nb=${c}\nc=${a}\nd=${env:HOME}/${sys:LOG_DIR}/${date:yyyy-MM-dd}\n",
            "a=${b}${b}${b}${b}\nb=${c}${c}${c}${c}\nc=${d}${d}${d}${d}\nd=${e}${e}${e}${e}\ne=${env:TWICE}\n",
            "a=${env:${b:-HOME}:-${sys:no:-x}}\nb=${env:LOOP}\nc=${base64Decoder:SGk=} ${script:javascript:1} ${HOME}\n",
        ],
        max_len: 8_192,
    },
    Target {
        name: "numbers",
        run: java::numbers,
        seeds: &[],
        texts: &["0x1.8p3", "-2147483648", "%-,(10.3f|%08x|%s", "NaN"],
        max_len: 256,
    },
    Target {
        name: "path",
        run: java::path,
        seeds: &[],
        texts: &["/logs/%Y/%m/%d/%{host}/%H%M", "%[localhost]%t%%%{a.b-c}", "/%y%j%p%Z/%"],
        max_len: 1_024,
    },
    Target {
        name: "pem",
        run: keys::pem,
        seeds: &["tests/parity/golden/keystores/pem"],
        texts: &["-----BEGIN CERTIFICATE-----\n"],
        max_len: 8_192,
    },
    Target {
        name: "positions",
        run: files::positions,
        seeds: &[],
        texts: &[
            "[{\"inode\":10225946,\"pos\":6,\"file\":\"/tmp/x/a\\u003db.log\"},{\"inode\":2,\"pos\":3,\"file\":\"/c\"}]",
            "[{\"inode\":1,\"pos\":2,\"fi\n---\n{\"belongs_to\":[1,2]}\n{\"inode\":1,\"pos\":2,\"file\":\"/a\",\"head_len\":9,\"head\":5,\"tail\":7}\nend\n",
            "{nonsense",
        ],
        max_len: 4_096,
    },
    Target {
        name: "properties",
        run: config::properties,
        seeds: &["tests/parity/golden/properties/files"],
        texts: &["a\\u00e4=b\\\n c"],
        max_len: 65_536,
    },
    Target {
        name: "regex",
        run: java::regex,
        seeds: &[],
        texts: &[
            "^(\\d+)\\s+(?<name>\\w+)$\n42 answers",
            "(a*)*b\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "(?i)(?<=x)[a-z&&[^b]]++\\1\nxAxA",
            "\\p{IsLatin}+|\\Q.*\\E|(?x) a # remark\nabc",
            "(?:(?=(a+))a*b\\1)+?\naabaaab",
        ],
        max_len: 512,
    },
    Target {
        name: "syslog",
        run: syslog::stream,
        seeds: &[],
        texts: &[
            "\0\u{7}<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - BOM'su root' failed\n<13>Oct 11 22:14:15 h app: x\n",
            "\u{1}\u{3}<34>Oct  1 22:14:15 h x\n\n<\n<9999>no\n<1>1 - - x\nplain text that is longer than sixteen bytes\r\n",
            "\0\u{5}25 <13>1 - h a - - - counted12 <1>2 lines\nand more 7 <5>x\ny",
            "\u{70}\u{2}<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time\n123456789 <",
        ],
        max_len: 4_096,
    },
    Target {
        name: "thrift",
        run: rpc::thrift,
        seeds: &["tests/parity/fixtures/rpc"],
        texts: &["\u{0}\u{0}\u{0}\u{6}append\u{1}\u{0}\u{0}\u{0}\u{1}\u{c}\u{0}\u{1}\u{0}\u{0}"],
        max_len: 16_384,
    },
    Target { name: "wal_checkpoint", run: wal::checkpoint, seeds: &[], texts: &[], max_len: 4_096 },
    Target { name: "wal_directory", run: wal::directory, seeds: &[], texts: &[], max_len: 65_536 },
    Target {
        name: "wal_java_checkpoint",
        run: wal::java_checkpoint,
        seeds: &[],
        texts: &[],
        max_len: 32_768,
    },
    Target { name: "wal_meta", run: wal::meta, seeds: &[], texts: &[], max_len: 1_024 },
    Target { name: "wal_record", run: wal::record, seeds: &[], texts: &[], max_len: 4_096 },
    Target {
        name: "tracker",
        run: files::tracker,
        seeds: &[],
        texts: &[
            "Obj\u{1}\u{4}\u{16}avro.schema\u{c}\"long\"\u{8}file\u{8}/a/b\u{0}0123456789abcdef\u{2}\u{2}\n0123456789abcdef",
            "Obj\u{1}\u{4}\u{8}file\u{8}/a/b\u{16}flumen.skip\u{2}3\u{0}0123456789abcdef\u{4}\u{4}\n\u{c}0123456789abcdef\u{2}",
        ],
        max_len: 2_048,
    },
    Target {
        name: "zookeeper",
        run: start::zookeeper,
        seeds: &["conf"],
        texts: &[
            "a.sources = r\u{e9}\na.channels=c\na.channels.c.type=memory\na.sources.r\u{e9}.type=${env:X}\n",
            "\u{feff}a.sinks=k\n",
        ],
        max_len: 16_384,
    },
];
