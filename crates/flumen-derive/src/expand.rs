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
    let value_type = match (&attributes.prefix, &optional, &map) {
        (Some(_), None, Some(arguments)) if arguments.len() == 2 => arguments[1],
        (Some(prefix), ..) => {
            return Err(Error::new(prefix.span(), "`prefix` needs a field of type `BTreeMap<K, V>`"));
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
