//! The settings of the `search_replace` interceptor.

use crate::shared::{charset::CharsetSetting, regex::FilledRegex};
use flumen_core::config::{Configuration, Property, View};
use flumen_java::regex::Replacement;

/// What stands below the interceptor.
#[derive(Debug, Clone)]
pub struct SearchReplaceConfig {
    /// What to look for.
    pub pattern: FilledRegex,
    /// What to put in its place.
    pub replacement: Replacement,
    /// The charset of bodies.
    pub charset: CharsetSetting,
}

#[derive(Configuration)]
struct Keys {
    /// What to look for in the body. Every match is replaced.
    search_pattern: FilledRegex,
    /// What to put in its place: `$1` and `${name}` stand for groups, and `\` goes before a `$` or `\` that is meant.
    #[property(default = "")]
    replace_string: String,
    /// The charset of bodies.
    #[property(default = "UTF-8")]
    charset: CharsetSetting,
}

impl Configuration for SearchReplaceConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let keys = Keys::read(view)?;
        let replacement = keys.search_pattern.replacement(&keys.replace_string);
        if let Some(error) = replacement.error() {
            view.error("replaceString", format!("`{}` is no replacement: {error}", keys.replace_string));
            return None;
        }
        Some(Self { pattern: keys.search_pattern, replacement, charset: keys.charset })
    }
}
