//! What a JVM takes from its surroundings: the default time zone, locale and charset.

use flumen_core::registry::Environment;
use flumen_java::{
    charset::Charset,
    dates::{Locale, Zone},
};

/// The default zone: `-Duser.timezone`, else the machine's.
pub(crate) fn zone(environment: &Environment) -> Zone {
    environment.property("user.timezone").filter(|id| !id.is_empty()).map_or_else(Zone::system, Zone::of_id)
}

/// The default locale: `-Duser.language` with `-Duser.country`, else what `LC_ALL`, `LC_MESSAGES` or `LANG` says.
pub(crate) fn locale(environment: &Environment) -> Locale {
    if let Some(language) = environment.property("user.language") {
        let country = environment.property("user.country").unwrap_or_default();
        return Locale::of_tag(&format!("{language}_{country}"));
    }
    let variable = |name| environment.variables.get(name).filter(|value| !value.is_empty());
    let tag = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable);
    Locale::of_tag(tag.map_or("C", String::as_str))
}

/// The default charset: `-Dfile.encoding`, else UTF-8 (Java asks the locale).
pub(crate) fn charset(environment: &Environment) -> Charset {
    let asked = environment.property("file.encoding").and_then(|name| Charset::for_name(name).ok());
    asked.unwrap_or_else(Charset::utf_8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(properties: &[(&str, &str)], variables: &[(&str, &str)]) -> Environment {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Environment { properties: owned(properties), variables: owned(variables), ..Environment::default() }
    }

    #[test]
    fn settings_of_the_jvm_win_over_the_machine() {
        let german = environment(
            &[
                ("user.timezone", "Europe/Berlin"),
                ("user.language", "de"),
                ("user.country", "DE"),
                ("file.encoding", "latin1"),
            ],
            &[("LANG", "fr_FR.UTF-8")],
        );
        assert_eq!(zone(&german).id(), "Europe/Berlin");
        assert_eq!(format!("{:?}", locale(&german)), format!("{:?}", Locale::of_tag("de-DE")));
        assert_eq!(charset(&german).name(), "ISO-8859-1");
    }

    #[test]
    fn without_settings_locale_variables_count_in_their_order() {
        let all = [("LANG", "fr_FR.UTF-8"), ("LC_MESSAGES", "de_DE.UTF-8"), ("LC_ALL", "")];
        let shown = |variables: &[_]| format!("{:?}", locale(&environment(&[], variables)));
        assert_eq!(shown(&all), format!("{:?}", Locale::of_tag("de_DE")));
        assert_eq!(shown(&all[..1]), format!("{:?}", Locale::of_tag("fr_FR")));
        assert_eq!(shown(&[]), format!("{:?}", Locale::of_tag("C")));
        assert_eq!(charset(&environment(&[], &[])).name(), "UTF-8");
    }
}
