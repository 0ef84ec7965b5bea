//! Filters on whole configurations: each kind, what fails, what is told.

use super::*;
use crate::conf::{ConfigText, load};
use flumen_java::properties::Encoding;
use std::path::Path;

fn context() -> FilterContext {
    let variables = [("KEY", "from env"), ("OTHER", "2")];
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    FilterContext {
        environment: Arc::new(Environment { variables, ..Environment::default() }),
        conf_dirs: Vec::new(),
    }
}

async fn apply_to(text: &str, context: &FilterContext) -> (Entries, Vec<String>) {
    let text = ConfigText { name: "f".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (mut entries, _) = load(&[text]);
    let problems = apply(&mut entries, "a", context).await;
    (entries, problems.iter().map(|problem| format!("{}: {problem}", problem.severity)).collect())
}

fn values(entries: &Entries, before: &str) -> Vec<String> {
    entries
        .list
        .iter()
        .filter(|entry| entry.key.starts_with(before))
        .map(|entry| entry.value.clone())
        .collect()
}

#[tokio::test]
async fn cfg_07_placeholders_are_filled_in_settings_and_nowhere_else() {
    let text = "a.configfilters = f1 f2\na.configfilters.f1.type = env\na.configfilters.f2.type = EXTERNAL\n\
        a.configfilters.f2.command = echo -n is\na.sources = ${f1['KEY']}\n\
        a.sinks.k.one = ${f1['KEY']}\na.sinks.k.two = <${f1[\"OTHER\"]}${f2[x]}>\n\
        a.sinks.k.three = ${f1['KEY\"]} ${f1['NONE']} ${f3[KEY]}\nb.sinks.k.x = ${f1['KEY']}\n";
    let (entries, told) = apply_to(text, &context()).await;
    assert_eq!(
        values(&entries, "a.sinks.k"),
        ["from env", "<2is x>", "${f1['KEY\"]} ${f1['NONE']} ${f3[KEY]}"]
    );
    assert_eq!(values(&entries, "a.sources"), ["${f1['KEY']}"]);
    assert_eq!(values(&entries, "b."), ["${f1['KEY']}"]);
    assert_eq!(
        told,
        [
            "warning: f:8: a.sinks.k.three: `${f1['NONE']}` stays as it is: the environment variable `NONE` is not set",
            "warning: f:8: a.sinks.k.three: `${f3[KEY]}` stays as it is: there is no config filter `f3`; did you mean `f1`?",
        ]
    );
    assert!(entries.list.iter().find(|entry| entry.key == "a.sinks.k.one").unwrap().secret);
}

async fn external(command: &str) -> (String, Vec<String>) {
    let text = format!(
        "a.configfilters = f\na.configfilters.f.type = external\na.configfilters.f.timeout = 1\n\
         a.configfilters.f.command = {command}\na.sinks.k.x = ${{f[key]}}\n"
    );
    let (entries, told) = apply_to(&text, &context()).await;
    (values(&entries, "a.sinks.k")[0].clone(), told)
}

fn script(dir: &Path, text: &str) -> String {
    let path = dir.join("script.sh");
    std::fs::write(&path, text).unwrap();
    format!("sh {}", path.display())
}

#[tokio::test]
async fn cfg_10_the_first_line_of_a_program_is_the_value_and_failure_is_told() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(external("echo").await.0, "key");
    assert_eq!(external(&script(dir.path(), "echo \"<$1>\"; echo second")).await.0, "<key>");
    let (value, told) = external(&script(dir.path(), "echo no; echo bad key >&2; exit 3")).await;
    assert_eq!(value, "${f[key]}");
    assert!(told[0].contains("`sh` failed for `key` (exit status: 3): bad key"), "{told:?}");
    let (_, told) = external("/no/such/program").await;
    assert!(told[0].contains("cannot run `/no/such/program`"), "{told:?}");
    let (_, told) = external("true").await;
    assert!(told[0].contains("wrote nothing"), "{told:?}");
}

#[tokio::test]
async fn a_program_that_writes_much_or_hangs_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let (value, told) = external(&script(dir.path(), "echo first; head -c 5000000 /dev/zero")).await;
    assert_eq!((value.as_str(), told.len()), ("first", 0));
    let (_, told) = external(&script(dir.path(), "head -c 5000000 /dev/zero | tr '\\0' x")).await;
    assert!(told[0].contains("longer than 65536 bytes"), "{told:?}");
    let (_, told) = external(&script(dir.path(), "exec sleep 1000")).await;
    assert!(told[0].contains("took longer than 1 s for `key`"), "{told:?}");
    let (value, told) = external(&script(dir.path(), "sleep 5 & echo early")).await;
    assert_eq!((value.as_str(), told.len()), ("early", 0), "what it left behind holds the pipe");
}

#[tokio::test]
async fn a_filter_that_cannot_be_made_is_told_and_its_placeholders_stay() {
    let text = "a.configfilters = f g h\na.configfilters.f.type = evn\na.configfilters.g.type = external\n\
        a.configfilters.h.x = 1\na.sinks.k.x = ${f[K]}${g[K]}\n";
    let (entries, told) = apply_to(text, &context()).await;
    assert_eq!(values(&entries, "a.sinks"), ["${f[K]}${g[K]}"]);
    let has = |part: &str| told.iter().any(|told| told.contains(part));
    assert!(
        has("f:2: a.configfilters.f.type: unknown config filter type `evn`; did you mean `env`?"),
        "{told:?}"
    );
    assert!(has("a.configfilters.g.command: is required"), "{told:?}");
    assert!(has("a.configfilters.h.type: is required"), "{told:?}");
}

fn store(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/keystores/stores/");
    format!("jceks://file{folder}{name}")
}

async fn hadoop(more: &str, context: &FilterContext) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "a.configfilters = f\na.configfilters.f.type = hadoop\n{more}a.sinks.k.x = ${{f['ssl.keystore.password']}}\na.sinks.k.y = ${{f[one-char]}}\n"
    );
    let (entries, told) = apply_to(&text, context).await;
    (values(&entries, "a.sinks.k"), told)
}

#[tokio::test]
async fn cfg_11_credentials_with_the_default_password_a_variable_and_a_file() {
    let provider =
        format!("a.configfilters.f.credential.provider.path = {}\n", store("hadoop-credentials.jceks"));
    let (found, told) = hadoop(&provider, &context()).await;
    assert_eq!((found, told), (vec!["s3cr3t!".to_owned(), "x".to_owned()], vec![]));

    let with_variable = |password: &str| {
        let mut context = context();
        let mut environment = (*context.environment).clone();
        environment.variables.insert("HADOOP_CREDSTORE_PASSWORD".to_owned(), password.to_owned());
        context.environment = Arc::new(environment);
        context
    };
    assert_eq!(hadoop(&provider, &with_variable("none")).await.0[0], "s3cr3t!");
    let (found, told) = hadoop(&provider, &with_variable("wrong")).await;
    assert_eq!(found[0], "${f['ssl.keystore.password']}");
    assert!(
        told.iter().any(|told| told.starts_with("error: f:3: a.configfilters.f.credential.provider.path")),
        "{told:?}"
    );

    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("store.password"), "none\n").unwrap();
    std::fs::write(dir.path().join("wrong.password"), "wrong\n").unwrap();
    let context = FilterContext { conf_dirs: vec![dir.path().to_owned()], ..context() };
    let with_file = |file| {
        format!("{provider}a.configfilters.f.credstore.java-keystore-provider.password-file = {file}\n")
    };
    assert_eq!(hadoop(&with_file("store.password"), &context).await.0[0], "s3cr3t!");
    let (_, told) = hadoop(&with_file("wrong.password"), &context).await;
    assert!(told.iter().any(|told| told.contains("was not opened")), "{told:?}");
    let (found, told) = hadoop(&with_file("none.password"), &context).await;
    assert_eq!(found[0], "${f['ssl.keystore.password']}");
    assert!(told.iter().any(|told| told.contains("there is no password file `none.password`")), "{told:?}");
}

#[tokio::test]
async fn cfg_11_without_a_provider_path_or_with_an_unknown_credential_it_is_told() {
    let (found, told) = hadoop("", &context()).await;
    assert_eq!(found[0], "${f['ssl.keystore.password']}");
    assert!(told.iter().any(|told| told.contains("credential.provider.path: is required")), "{told:?}");
    let provider =
        format!("a.configfilters.f.credential.provider.path = {}\n", store("hadoop-credentials-empty.jceks"));
    let (_, told) = hadoop(&provider, &context()).await;
    assert!(told[0].contains("the credential store has no `ssl.keystore.password`"), "{told:?}");
}
