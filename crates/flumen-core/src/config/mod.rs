//! Settings: how a component says which properties it has, and how they are read and complained about.
//!
//! ```
//! use flumen_core::config::{Configuration, Millis, Settings, Url, read};
//!
//! /// Sends each event to an HTTP endpoint.
//! #[derive(Debug, Configuration)]
//! #[configuration(ignored(key = "maxIoWorkers", why = "threads are shared by all components"))]
//! pub struct HttpConfig {
//!     /// URL that each event is sent to.
//!     pub endpoint: Url,
//!     /// How long to wait for a connection.
//!     #[property(default = "5000")]
//!     pub connect_timeout: Millis,
//! }
//!
//! let settings = Settings::from_pairs("a.sinks.k", &[("endpoint", "http://h/"), ("connectTimeuot", "20")]);
//! let (config, problems) = read::<HttpConfig>(&settings, &[]);
//! assert_eq!(config.map(|config| config.connect_timeout), Some(Millis(5000)));
//! assert_eq!(
//!     problems[0].to_string(),
//!     "flume.conf:2: a.sinks.k.connectTimeuot: unknown property; did you mean `connectTimeout`?"
//! );
//! ```
//!
//! A field without a doc comment does not compile:
//!
//! ```compile_fail
//! #[derive(flumen_core::config::Configuration)]
//! struct Undocumented { port: u16 }
//! ```

mod lists;
mod nearest;
mod numbers;
mod origin;
mod problem;
mod property;
mod settings;
mod text;
mod units;
mod view;

pub use flumen_derive::Configuration;

pub use lists::{Commas, Words};
pub use nearest::nearest_name;
pub use origin::Origin;
pub use problem::{Place, Problem, ProblemKind, Severity, sort_problems};
pub use property::{Configuration, Effect, Property, PropertyValue, choose, flat};
pub use settings::{Setting, Settings};
pub use text::{Secret, Url};
pub use units::{AnyPort, Bytes, Millis, Port, Seconds};
pub use view::{View, read};
