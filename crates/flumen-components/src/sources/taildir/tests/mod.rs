//! Files that grow, are renamed, cut, copied and deleted: what is delivered, and what is remembered.

mod behaviours;
mod copies;
mod faults;
mod java;
mod lost;
mod multiline;
mod restarts;
mod rotation;
mod running;
mod suite;
mod support;

use super::*;
use support::{Tail, lines};
