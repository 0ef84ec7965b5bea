//! `xtask new-component`: writes a component's folder from the templates and registers it.

use std::path::Path;

use crate::{Outcome, shell};

const CRATE: &str = "crates/flumen-components/src";

/// A kind that can be begun: its folder, the registry's method, the ending of its type, and its files.
struct Kind {
    name: &'static str,
    folder: &'static str,
    method: &'static str,
    suffix: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "sink",
        folder: "sinks",
        method: "sink",
        suffix: "Sink",
        files: &[
            ("mod.rs", include_str!("../templates/sink/mod.rs.txt")),
            ("config.rs", include_str!("../templates/sink/config.rs.txt")),
            ("wire.rs", include_str!("../templates/sink/wire.rs.txt")),
            ("tests.rs", include_str!("../templates/sink/tests.rs.txt")),
        ],
    },
    Kind {
        name: "source",
        folder: "sources",
        method: "source",
        suffix: "Source",
        files: &[
            ("mod.rs", include_str!("../templates/source/mod.rs.txt")),
            ("config.rs", include_str!("../templates/source/config.rs.txt")),
            ("wire.rs", include_str!("../templates/source/wire.rs.txt")),
            ("tests.rs", include_str!("../templates/source/tests.rs.txt")),
        ],
    },
    Kind {
        name: "interceptor",
        folder: "interceptors",
        method: "interceptor",
        suffix: "Interceptor",
        files: &[
            ("mod.rs", include_str!("../templates/interceptor/mod.rs.txt")),
            ("config.rs", include_str!("../templates/interceptor/config.rs.txt")),
            ("tests.rs", include_str!("../templates/interceptor/tests.rs.txt")),
        ],
    },
];

/// Names that cannot be a module.
const RESERVED: &[&str] = &[
    "as", "async", "await", "box", "break", "config", "const", "continue", "crate", "dyn", "else", "enum",
    "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut",
    "pub", "ref", "return", "self", "shared", "static", "struct", "super", "tests", "trait", "true", "try",
    "type", "unsafe", "use", "where", "while", "wire", "yield",
];

const LONGEST_NAME: usize = 40;

pub(crate) fn task(arguments: &[String]) -> Outcome {
    let [kind, name] = arguments else {
        return Err("usage: new-component sink|source|interceptor NAME".to_owned());
    };
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let kind = KINDS
        .iter()
        .find(|known| known.name == kind)
        .ok_or(format!("there is no template for `{kind}`: take one of {}", kinds.join(", ")))?;
    check_name(name)?;
    begin(&shell::root().join(CRATE), kind, name)
}

fn check_name(name: &str) -> Outcome {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let spelt = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !(starts && spelt) || name.ends_with('_') || name.contains("__") {
        return Err(format!(
            "`{name}`: use lower-case letters, digits and single `_`, a letter first (`my_queue`)"
        ));
    }
    if name.len() > LONGEST_NAME {
        return Err(format!("`{name}` is longer than {LONGEST_NAME} letters"));
    }
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` is a reserved word: choose another name"));
    }
    Ok(())
}

/// Writes the folder below `sources`, the `src` of the crate of components, and registers it.
fn begin(sources: &Path, kind: &Kind, name: &str) -> Outcome {
    let folder = sources.join(kind.folder).join(name);
    if folder.exists() || folder.with_extension("rs").exists() {
        return Err(format!("{} is there already", folder.display()));
    }
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(cannot)?;
    let type_name = format!("{}{}", camel_case(name), kind.suffix);
    for (file, template) in kind.files {
        let text = template.replace("{{name}}", name).replace("{{Name}}", &camel_case(name));
        std::fs::write(folder.join(file), text).map_err(cannot)?;
        println!("wrote {CRATE}/{}/{name}/{file}", kind.folder);
    }
    let list = sources.join(kind.folder).join("mod.rs");
    let call = format!(".{}::<{name}::{type_name}>()", kind.method);
    let text = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let text = add_module(&text, name).and_then(|text| add_call(&text, &call));
    let shown = format!("{CRATE}/{}/mod.rs", kind.folder);
    match text {
        Some(text) => {
            std::fs::write(&list, text).map_err(|error| format!("{}: {error}", list.display()))?;
            shell::run(shell::command("rustfmt").args(["--edition", "2024"]).arg(&list))?;
            println!("registered in {shown}");
        }
        None => println!("ADD to {shown}: `pub mod {name};`, and to its `register`: `{call}`"),
    }
    println!("\nnext: cargo test -p flumen-components {name}, then docs/dev/authoring.md");
    Ok(())
}

/// Declares a module: beside the others, or before the first `use`.
fn add_module(text: &str, name: &str) -> Option<String> {
    let mark = "\npub mod ";
    let declaration = format!("{mark}{name};");
    let others: Vec<usize> = text.match_indices(mark).map(|(at, _)| at).collect();
    match others.iter().find(|&&at| text[at..] > *declaration.as_str()) {
        Some(&at) => Some(format!("{}{declaration}{}", &text[..at], &text[at..])),
        None if others.is_empty() => {
            let at = text.find("\nuse ")?;
            Some(format!("{}{declaration}\n{}", &text[..at], &text[at..]))
        }
        None => {
            let last = *others.last()?;
            let end = last + text[last..].find(';')? + 1;
            Some(format!("{}{declaration}{}", &text[..end], &text[end..]))
        }
    }
}

/// Adds a call to the chain in `register`, in alphabetical order of what is registered.
fn add_call(text: &str, call: &str) -> Option<String> {
    let registered = |call: &str| call.split_once("::<").map(|(_, rest)| rest.to_owned());
    let chain = text.rfind("fn register")?;
    let calls: Vec<usize> =
        text[chain..].match_indices("::<").filter_map(|(at, _)| text[..chain + at].rfind('.')).collect();
    let at = match calls.iter().find(|&&at| registered(&text[at..]) > registered(call)) {
        Some(&at) => at,
        None => match calls.last() {
            Some(&last) => last + text[last..].find(">()")? + ">()".len(),
            None => text.rfind("registry")? + "registry".len(),
        },
    };
    Some(format!("{}{call}{}", &text[..at], &text[at..]))
}

fn camel_case(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_names_are_refused() {
        for bad in ["", "Pulsar", "9p", "a-b", "a__b", "a_", "mod", "../x", &"a".repeat(41)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        for good in ["pulsar", "file_roll", "s3"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
    }

    const LIST: &str = "//! Sources.\n\npub mod http;\npub mod seq;\n\nuse x;\n\npub(crate) fn register(registry: R) -> R {\n    \
                        registry.source::<http::A>().poll_source::<seq::B>()\n}\n";

    #[test]
    fn a_call_and_a_module_go_to_their_places() {
        for (name, modules, calls) in [
            ("avro", "avro;\npub mod http;", "registry.source::<avro::C>().source::<http"),
            (
                "netcat",
                "http;\npub mod netcat;\npub mod seq;",
                "::<http::A>().source::<netcat::C>().poll_source",
            ),
            ("zero", "seq;\npub mod zero;\n\nuse", "<seq::B>().source::<zero::C>()\n}"),
        ] {
            let text =
                add_module(LIST, name).and_then(|text| add_call(&text, &format!(".source::<{name}::C>()")));
            let text = text.unwrap();
            assert!(text.contains(modules) && text.contains(calls), "{text}");
        }
    }

    #[test]
    fn the_first_of_a_kind_is_added_too() {
        let empty = "//! Sinks.\n\nuse x;\n\npub(crate) fn register(registry: R) -> R {\n    registry\n}\n";
        let text = add_module(empty, "null").and_then(|text| add_call(&text, ".sink::<null::N>()")).unwrap();
        assert!(text.starts_with("//! Sinks.\n\npub mod null;\n\nuse x;\n"), "{text}");
        assert!(text.ends_with("    registry.sink::<null::N>()\n}\n"), "{text}");
        assert_eq!(add_call("nothing", "x"), None);
    }

    #[test]
    fn a_folder_is_written_once_and_registered() {
        let sources = shell::root().join("target/new-component-test");
        let _ = std::fs::remove_dir_all(&sources);
        std::fs::create_dir_all(sources.join("sinks")).unwrap();
        let empty = "//! Sinks.\n\nuse x;\n\npub(crate) fn register(registry: R) -> R {\n    registry\n}\n";
        std::fs::write(sources.join("sinks/mod.rs"), empty).unwrap();
        begin(&sources, &KINDS[0], "my_queue").unwrap();
        let read = |file: &str| std::fs::read_to_string(sources.join("sinks").join(file)).unwrap();
        assert!(read("mod.rs").contains("registry.sink::<my_queue::MyQueueSink>()"));
        assert!(read("my_queue/mod.rs").contains("\n//! Delivery: "));
        for (file, _) in KINDS[0].files {
            assert!(!read(&format!("my_queue/{file}")).contains("{{name"), "{file}");
        }
        assert!(begin(&sources, &KINDS[0], "my_queue").unwrap_err().contains("is there already"));
        std::fs::remove_dir_all(&sources).unwrap();
    }
}
