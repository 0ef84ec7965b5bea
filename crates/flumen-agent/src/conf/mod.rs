//! From the text of a configuration to its properties, each with its place.

mod origin;
mod sources;
mod text;

pub use origin::{OriginError, Origins};
pub use sources::Sources;
pub use text::{ConfigText, Entries, Entry, load};
