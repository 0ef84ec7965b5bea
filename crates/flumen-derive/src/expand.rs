//! Writes the table of properties and the reading code.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericArgument, Ident, LitStr, PathArguments, Result, Type,
};

use crate::attributes::{FieldAttributes, Special, doc};
use crate::keys::camel_case;

/// What one field becomes.
struct Expanded<'a> {
    name: &'a Ident,
    /// A `Property`.
    property: TokenStream,
    /// An expression of type `Option<field's type>`, where `property` is the row above.
    read: TokenStream,
    /// Every key, to find those that stand there twice.
    keys: Vec<LitStr>,
}

pub(crate) fn configuration(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "a configuration has no type parameters"));
    }
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a configuration is a struct"));
    };
    let fields: Vec<&Field> = match &data.fields {
        Fields::Named(fields) => fields.named.iter().collect(),
        Fields::Unit => Vec::new(),
        Fields::Unnamed(fields) => {
            return Err(Error::new(fields.span(), "fields of a configuration have names"));
        }
    };
    let (fields, specials) = gather(&fields, Special::all(&input.attrs)?)?;

    let name = &input.ident;
    let names: Vec<&Ident> = fields.iter().map(|field| field.name).collect();
    let locals: Vec<Ident> = (0..names.len()).map(|index| format_ident!("field_{index}")).collect();
    let rows = fields.iter().map(|field| &field.property);
    let reads = fields.iter().enumerate().zip(&locals).map(|((index, field), local)| {
        let read = &field.read;
        quote! {
            let #local = { let property = &<Self as ::flumen_core::config::Configuration>::PROPERTIES[#index]; #read };
        }
    });
    let effects = (!specials.is_empty()).then(|| {
        quote! {
            let complete = view.effects(<Self as ::flumen_core::config::Configuration>::PROPERTIES);
            if !complete { return ::core::option::Option::None; }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl ::flumen_core::config::Configuration for #name {
            const PROPERTIES: &'static [::flumen_core::config::Property] = &[#(#rows,)* #(#specials,)*];

            fn read(view: &mut ::flumen_core::config::View<'_>) -> ::core::option::Option<Self> {
                #(#reads)*
                #effects
                ::core::option::Option::Some(Self { #(#names: #locals?,)* })
            }
        }
    })
}

/// Expands all fields and special keys, and gathers every error among them.
fn gather<'a>(fields: &[&'a Field], specials: Vec<Special>) -> Result<(Vec<Expanded<'a>>, Vec<TokenStream>)> {
    let mut errors: Option<Error> = None;
    let mut note = |error: Error| match &mut errors {
        Some(errors) => errors.combine(error),
        none => *none = Some(error),
    };
    let mut expanded = Vec::new();
    for field in fields {
        match expand_field(field) {
            Ok(field) => expanded.push(field),
            Err(error) => note(error),
        }
    }
    let special_keys = specials.iter().map(|special| match special {
        Special::Ignored { key, .. } | Special::Refused { key, .. } => key.clone(),
    });
    let mut seen: Vec<String> = Vec::new();
    for key in expanded.iter().flat_map(|field| field.keys.iter().cloned()).chain(special_keys) {
        if seen.contains(&key.value()) {
            note(Error::new(key.span(), format!("the key `{}` is there twice", key.value())));
        }
        seen.push(key.value());
    }
    match errors {
        Some(errors) => Err(errors),
        None => Ok((expanded, specials.iter().map(special_row).collect())),
    }
}

fn expand_field(field: &Field) -> Result<Expanded<'_>> {
    let attributes = FieldAttributes::of(&field.attrs)?;
    let name = field.ident.as_ref().ok_or_else(|| Error::new(field.span(), "fields have names"))?;
    let whole = attributes.flatten || attributes.nested.is_some();
    let doc = doc(&field.attrs);
    if doc.is_none() && !attributes.flatten {
        let what = format!("`{name}` needs a doc comment: it is the property's documentation");
        return Err(Error::new(name.span(), what));
    }
    let doc = doc.unwrap_or_default();
    if whole {
        expand_part(field, name, &attributes, &doc)
    } else {
        expand_property(field, name, &attributes, &doc)
    }
}

/// A field that is a configuration itself.
fn expand_part<'a>(
    field: &'a Field,
    name: &'a Ident,
    attributes: &FieldAttributes,
    doc: &str,
) -> Result<Expanded<'a>> {
    let plain = attributes.key.is_none()
        && attributes.prefix.is_none()
        && attributes.default.is_none()
        && attributes.min.is_none()
        && attributes.max.is_none()
        && attributes.aliases.is_empty()
        && attributes.deprecated.is_empty()
        && !attributes.secret
        && !attributes.default_if_bad
        && !(attributes.flatten && attributes.nested.is_some());
    if !plain {
        return Err(Error::new(name.span(), "`flatten` and `nested` stand alone"));
    }
    let key = attributes.nested.clone().unwrap_or_else(|| LitStr::new("", name.span()));
    if attributes.nested.is_some() {
        ends_with_dot(&key)?;
    }
    let field_type = &field.ty;
    let property = quote! {
        ::flumen_core::config::Property {
            key: #key,
            doc: #doc,
            nested: ::core::option::Option::Some(<#field_type as ::flumen_core::config::Configuration>::PROPERTIES),
            ..::flumen_core::config::Property::NEW
        }
    };
    let read = quote! {
        view.within(property.key, |view| <#field_type as ::flumen_core::config::Configuration>::read(view))
    };
    // Two flattened parts share the empty key.
    let keys = attributes.nested.iter().cloned().collect();
    Ok(Expanded { name, property, read, keys })
}

fn expand_property<'a>(
    field: &'a Field,
    name: &'a Ident,
    attributes: &FieldAttributes,
    doc: &str,
) -> Result<Expanded<'a>> {
    let field_type = &field.ty;
    let optional = generic_arguments(field_type, "Option").and_then(|arguments| arguments.first().copied());
    let map = generic_arguments(field_type, "BTreeMap");
    if attributes.prefix.is_some() && is_settings(field_type) {
        return expand_rest(name, attributes, doc);
    }
    let value_type = match (&attributes.prefix, &optional, &map) {
        (Some(_), None, Some(arguments)) if arguments.len() == 2 => arguments[1],
        (Some(prefix), ..) => {
            return Err(Error::new(
                prefix.span(),
                "`prefix` needs a field of type `BTreeMap<K, V>` or `Settings`",
            ));
        }
        (None, _, Some(_)) => {
            return Err(Error::new(field_type.span(), "a map needs `#[property(prefix = \"…\")]`"));
        }
        (None, Some(inner), None) => inner,
        (None, None, None) => field_type,
    };
    check_combination(name, attributes, optional.is_some())?;

    let limited = attributes.min.is_some() || attributes.max.is_some();
    let read = match (&attributes.prefix, optional.is_some(), limited) {
        (Some(_), ..) => quote!(view.map(property)),
        (None, true, false) => quote!(view.optional::<#value_type>(property)),
        (None, true, true) => quote!(view.optional_within::<#value_type>(property)),
        (None, false, false) => quote!(view.value::<#value_type>(property)),
        (None, false, true) => quote!(view.value_within::<#value_type>(property)),
    };
    let default_key = || LitStr::new(&camel_case(&name.unraw().to_string()), name.span());
    let key = attributes.prefix.clone().or_else(|| attributes.key.clone()).unwrap_or_else(default_key);
    let required = attributes.prefix.is_none() && optional.is_none() && attributes.default.is_none();
    let FieldAttributes { aliases, deprecated, default_if_bad, secret, .. } = attributes;
    let prefix = attributes.prefix.is_some();
    let (default, min, max) = (option(&attributes.default), option(&attributes.min), option(&attributes.max));
    let property = quote! {
        ::flumen_core::config::Property {
            key: #key,
            doc: #doc,
            kind: <#value_type as ::flumen_core::config::PropertyValue>::KIND,
            default: #default,
            aliases: &[#(#aliases),*],
            deprecated: &[#(#deprecated),*],
            prefix: #prefix,
            required: #required,
            secret: #secret || <#value_type as ::flumen_core::config::PropertyValue>::SECRET,
            default_if_bad: #default_if_bad,
            min: #min,
            max: #max,
            ..::flumen_core::config::Property::NEW
        }
    };
    let mut keys = vec![key];
    keys.extend(aliases.iter().chain(deprecated).cloned());
    Ok(Expanded { name, property, read, keys })
}

/// A field of type `Settings`: the part below a prefix, unread.
fn expand_rest<'a>(name: &'a Ident, attributes: &FieldAttributes, doc: &str) -> Result<Expanded<'a>> {
    check_combination(name, attributes, false)?;
    let FieldAttributes { secret, .. } = attributes;
    let prefix = &attributes.prefix;
    let property = quote! {
        ::flumen_core::config::Property {
            key: #prefix,
            doc: #doc,
            prefix: true,
            secret: #secret,
            ..::flumen_core::config::Property::NEW
        }
    };
    let read = quote!(::core::option::Option::Some(view.part(property.key)));
    Ok(Expanded { name, property, read, keys: prefix.iter().cloned().collect() })
}

/// Refuses attributes that mean nothing together.
fn check_combination(name: &Ident, attributes: &FieldAttributes, optional: bool) -> Result<()> {
    let error = |what: &str| Err(Error::new(name.span(), what));
    if let Some(prefix) = &attributes.prefix {
        ends_with_dot(prefix)?;
        let more = attributes.key.is_some()
            || attributes.default.is_some()
            || attributes.min.is_some()
            || attributes.max.is_some()
            || !attributes.aliases.is_empty()
            || !attributes.deprecated.is_empty();
        if more {
            return error("beside `prefix` only `secret` and `on_bad` mean something");
        }
        return Ok(());
    }
    if optional && attributes.default.is_some() {
        return error("an `Option` has no default: drop the `Option` or the default");
    }
    if attributes.default_if_bad && !optional && attributes.default.is_none() {
        return error("`on_bad = default` needs a default");
    }
    Ok(())
}

fn special_row(special: &Special) -> TokenStream {
    let (key, effect) = match special {
        Special::Ignored { key, why } => (key, quote!(Ignored { why: #why })),
        Special::Refused { key, instead, unless } => {
            let unless = option(unless);
            (key, quote!(Refused { instead: #instead, unless: #unless }))
        }
    };
    let prefix = key.value().ends_with('.');
    quote! {
        ::flumen_core::config::Property {
            key: #key,
            prefix: #prefix,
            effect: ::flumen_core::config::Effect::#effect,
            ..::flumen_core::config::Property::NEW
        }
    }
}

fn option(text: &Option<LitStr>) -> TokenStream {
    match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    }
}

fn ends_with_dot(key: &LitStr) -> Result<()> {
    match key.value().ends_with('.') {
        true => Ok(()),
        false => Err(Error::new(key.span(), "a prefix ends with a dot")),
    }
}

fn is_settings(of: &Type) -> bool {
    matches!(of, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Settings"))
}

/// The type arguments, where the type's last name is `wanted`.
fn generic_arguments<'a>(of: &'a Type, wanted: &str) -> Option<Vec<&'a Type>> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == wanted)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    });
    Some(types.collect())
}

#[cfg(test)]
mod tests {
    use super::configuration;
    use syn::{DeriveInput, parse_quote};

    fn refusal(input: DeriveInput) -> String {
        configuration(&input).expect_err("this must not compile").to_string()
    }

    #[test]
    fn a_field_without_documentation_does_not_compile() {
        let why = refusal(parse_quote! { struct C { port: u16 } });
        assert_eq!(why, "`port` needs a doc comment: it is the property's documentation");
    }

    #[test]
    fn only_structs_with_named_fields_and_without_parameters_compile() {
        assert_eq!(refusal(parse_quote! { enum C { A } }), "a configuration is a struct");
        assert_eq!(refusal(parse_quote! { struct C(u16); }), "fields of a configuration have names");
        let why = refusal(parse_quote! { struct C<T> { /// Doc.
        t: T } });
        assert_eq!(why, "a configuration has no type parameters");
        let unit: DeriveInput = parse_quote! { struct C; };
        assert!(configuration(&unit).is_ok());
    }

    #[test]
    fn the_same_key_twice_does_not_compile() {
        let why = refusal(parse_quote! {
            #[configuration(ignored(key = "port", why = "it is old"))]
            struct C {
                /// Doc.
                port: u16,
            }
        });
        assert_eq!(why, "the key `port` is there twice");
    }

    #[test]
    fn attributes_that_mean_nothing_together_do_not_compile() {
        let why = refusal(parse_quote! { struct C {
            /// Doc.
            #[property(default = "1")]
            port: Option<u16>,
        } });
        assert_eq!(why, "an `Option` has no default: drop the `Option` or the default");
        let why = refusal(parse_quote! { struct C {
            /// Doc.
            #[property(on_bad = default)]
            port: u16,
        } });
        assert_eq!(why, "`on_bad = default` needs a default");
        let why = refusal(parse_quote! { struct C {
            /// Doc.
            #[property(prefix = "kafka")]
            kafka: BTreeMap<String, String>,
        } });
        assert_eq!(why, "a prefix ends with a dot");
        let why = refusal(parse_quote! { struct C {
            /// Doc.
            kafka: BTreeMap<String, String>,
        } });
        assert_eq!(why, "a map needs `#[property(prefix = \"…\")]`");
        let why = refusal(parse_quote! { struct C {
            #[property(flatten, secret)]
            tls: Tls,
        } });
        assert_eq!(why, "`flatten` and `nested` stand alone");
    }

    #[test]
    fn a_misspelt_attribute_does_not_compile() {
        let why = refusal(parse_quote! { struct C {
            /// Doc.
            #[property(defualt = "1")]
            port: u16,
        } });
        assert!(why.starts_with("unknown attribute `defualt`; expected `key`"), "{why}");
        let why = refusal(parse_quote! {
            #[configuration(refused(key = "a", why = "b"))]
            struct C {}
        });
        assert_eq!(why, "expected `key`, `instead` or `unless`");
    }
}
