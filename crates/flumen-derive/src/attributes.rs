//! What stands in `#[property(…)]` on a field, in `#[configuration(…)]` on the struct, and in doc comments.

use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result};

/// A field's `#[property(…)]`.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub key: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub deprecated: Vec<LitStr>,
    pub default: Option<LitStr>,
    pub min: Option<LitStr>,
    pub max: Option<LitStr>,
    pub prefix: Option<LitStr>,
    pub nested: Option<LitStr>,
    pub flatten: bool,
    pub secret: bool,
    pub default_if_bad: bool,
}

/// A key without effect, from the struct's `#[configuration(…)]`.
pub(crate) enum Special {
    Ignored { key: LitStr, why: LitStr },
    Refused { key: LitStr, instead: LitStr, unless: Option<LitStr> },
}

impl FieldAttributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut found = FieldAttributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("property")) {
            attribute.parse_nested_meta(|meta| found.take(&meta))?;
        }
        Ok(found)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match meta.path.require_ident()?.to_string().as_str() {
            "key" => once(&mut self.key, meta),
            "default" => once(&mut self.default, meta),
            "min" => once(&mut self.min, meta),
            "max" => once(&mut self.max, meta),
            "prefix" => once(&mut self.prefix, meta),
            "nested" => once(&mut self.nested, meta),
            "alias" => text(meta).map(|alias| self.aliases.push(alias)),
            "deprecated" => text(meta).map(|old| self.deprecated.push(old)),
            "flatten" => {
                self.flatten = true;
                Ok(())
            }
            "secret" => {
                self.secret = true;
                Ok(())
            }
            "on_bad" => {
                let what: Ident = meta.value()?.parse()?;
                self.default_if_bad = what == "default";
                if self.default_if_bad { Ok(()) } else { Err(meta.error("expected `on_bad = default`")) }
            }
            other => Err(meta.error(format!(
                "unknown attribute `{other}`; expected `key`, `alias`, `deprecated`, `default`, `min`, `max`, `prefix`, \
                 `nested`, `flatten`, `secret` or `on_bad`"
            ))),
        }
    }
}

impl Special {
    /// All of the struct's, in order.
    pub(crate) fn all(attributes: &[Attribute]) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("configuration")) {
            attribute.parse_nested_meta(|meta| {
                let refused = match meta.path.require_ident()?.to_string().as_str() {
                    "ignored" => false,
                    "refused" => true,
                    _ => return Err(meta.error("expected `ignored(…)` or `refused(…)`")),
                };
                found.push(Special::take(&meta, refused)?);
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn take(meta: &ParseNestedMeta<'_>, refused: bool) -> Result<Self> {
        let (mut key, mut why, mut instead, mut unless) = (None, None, None, None);
        meta.parse_nested_meta(|part| match part.path.require_ident()?.to_string().as_str() {
            "key" => once(&mut key, &part),
            "why" if !refused => once(&mut why, &part),
            "instead" if refused => once(&mut instead, &part),
            "unless" if refused => once(&mut unless, &part),
            _ if refused => Err(part.error("expected `key`, `instead` or `unless`")),
            _ => Err(part.error("expected `key` or `why`")),
        })?;
        match (key, why, instead) {
            (Some(key), Some(why), None) => Ok(Special::Ignored { key, why }),
            (Some(key), None, Some(instead)) => Ok(Special::Refused { key, instead, unless }),
            _ if refused => Err(meta.error("needs `key = \"…\"` and `instead = \"…\"`")),
            _ => Err(meta.error("needs `key = \"…\"` and `why = \"…\"`")),
        }
    }
}

/// The doc comment as one text, or `None` where there is none.
pub(crate) fn doc(attributes: &[Attribute]) -> Option<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value().trim().to_owned()),
            other => Some(other.to_token_stream().to_string()),
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

fn once(into: &mut Option<LitStr>, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match into.replace(text(meta)?) {
        Some(_) => Err(meta.error("is given twice")),
        None => Ok(()),
    }
}
