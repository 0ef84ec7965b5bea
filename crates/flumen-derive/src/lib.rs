//! `#[derive(Configuration)]`: a struct of settings becomes a table of properties and the code that reads them.

mod attributes;
mod expand;
mod keys;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Reads a struct with named fields from a component's properties.
///
/// A field's doc comment is its property's documentation; a field without one does not compile. The key is the field's name in
/// camel case. An `Option<T>` may be missing; any other field without a default is required.
///
/// On a field, `#[property(…)]` with any of:
///
/// - `key = "hdfs.path"`: the key, where it is not the field's name.
/// - `alias = "other"`: another spelling, as good as the key. Can be repeated.
/// - `deprecated = "old"`: an old spelling, which is read and noted. Can be repeated.
/// - `default = "5000"`: read where the file has nothing, by the same parser.
/// - `min = "1"`, `max = "100"`: the smallest and the largest good value.
/// - `on_bad = default`: a bad value is replaced by the default (or left out, for an `Option`) with a warning, where Java does
///   that.
/// - `secret`: the value is never shown in messages. Types like `Secret` are so by themselves.
/// - `prefix = "backoff."`: a `BTreeMap<K, V>` of all keys that begin so, or a `Settings` that has them unread.
/// - `nested = "serializer."`: the field is itself a configuration, below that prefix.
/// - `flatten`: the field is itself a configuration, whose keys stand beside the others.
///
/// On the struct, `#[configuration(…)]` with any of, each repeatable, where a key that ends with a dot stands for all below it:
///
/// - `ignored(key = "maxIoWorkers", why = "…")`: known, without effect, noted as information.
/// - `refused(key = "…", instead = "…", unless = "false")`: known, not supported and not to be ignored; `unless` (optional) is a
///   value that is let through.
#[proc_macro_derive(Configuration, attributes(property, configuration))]
pub fn derive_configuration(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::configuration(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
