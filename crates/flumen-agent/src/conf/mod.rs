//! From the text of a configuration to its properties, each with its place.

mod encoding;
pub mod filters;
mod lookups;
mod origins;
mod sources;
mod text;

pub use filters::FilterContext;
pub use lookups::{LookupTable, Lookups};
pub use origins::{OriginError, Origins, Texts};
pub use sources::Sources;
pub use text::{ConfigText, Entries, Entry, load};
