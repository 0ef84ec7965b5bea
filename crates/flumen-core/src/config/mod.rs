//! Settings: how a component says which properties it has, and how they are read and complained about.

mod lists;
mod nearest;
mod numbers;
mod problem;
mod property;
mod settings;
mod text;
mod units;
mod view;

pub use flumen_derive::Configuration;

pub use lists::{Commas, Words};
pub use problem::{Place, Problem, Severity, sort_problems};
pub use property::{Configuration, Effect, Property, PropertyValue, choose, flat};
pub use settings::{Setting, Settings};
pub use text::{Secret, Url};
pub use units::{AnyPort, Bytes, Millis, Port, Seconds};
pub use view::{View, read};
