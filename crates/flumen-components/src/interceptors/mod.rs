//! What rewrites events behind a source: the folders of this kind, and their lines of registration.

mod gave_up;
pub mod host;
pub mod regex_extractor;
pub mod regex_filter;
pub mod remove_header;
pub mod search_replace;
mod set_on_all;
pub mod static_header;
#[cfg(test)]
mod tests;
pub mod timestamp;
pub mod uuid;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .interceptor::<host::HostInterceptor>()
        .interceptor::<regex_extractor::RegexExtractorInterceptor>()
        .interceptor::<regex_filter::RegexFilterInterceptor>()
        .interceptor::<remove_header::RemoveHeaderInterceptor>()
        .interceptor::<search_replace::SearchReplaceInterceptor>()
        .interceptor::<static_header::StaticInterceptor>()
        .interceptor::<timestamp::TimestampInterceptor>()
        .interceptor::<uuid::UuidInterceptor>()
}
