//! Headers: the owned, shared set that a batch holds, and the view that an event gives.

use super::Text;
use smallvec::SmallVec;
use std::{collections::HashMap, sync::Arc};

/// Entries of a set. A set of the common size is one allocation.
type Entries = SmallVec<[(Text, Text); 3]>;

/// Up to this many entries a linear search is faster than a hash.
const LINEAR_LIMIT: usize = 16;

/// A set of headers: few entries, unique names, in the order of insertion, copied only when a shared one is changed.
/// An empty set allocates nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<Entries>>);

impl Headers {
    /// No headers.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Headers from names and values; of two with one name the later value stays, at the earlier place.
    /// Linear in the number of entries, however many there are.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (Text, Text)>) -> Self {
        let mut entries = Entries::new();
        let mut places: HashMap<Text, usize> = HashMap::new();
        for (name, value) in pairs {
            let place = if entries.len() <= LINEAR_LIMIT {
                entries.iter().position(|(known, _)| *known == name)
            } else {
                if places.is_empty() {
                    places.extend(entries.iter().enumerate().map(|(i, (name, _))| (name.clone(), i)));
                }
                places.get(&name).copied()
            };
            if let Some(i) = place {
                entries[i].1 = value;
                continue;
            }
            if !places.is_empty() {
                places.insert(name.clone(), entries.len());
            }
            entries.push((name, value));
        }
        if entries.is_empty() { Self(None) } else { Self(Some(Arc::new(entries))) }
    }

    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&Text> {
        self.entries().iter().find(|(known, _)| *known == *name).map(|(_, value)| value)
    }

    /// Sets a value, replacing one that is there.
    pub fn set(&mut self, name: Text, value: Text) {
        let entries = Arc::make_mut(self.0.get_or_insert_with(Arc::default));
        match entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => entries.push((name, value)),
        }
    }

    /// Removes a name, if it is there.
    pub fn remove(&mut self, name: &str) {
        self.retain(|known, _| known != name);
    }

    /// Keeps the entries for which `keep` holds. A set that loses nothing is not copied.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &Text) -> bool) {
        let Some(shared) = &mut self.0 else { return };
        if shared.iter().all(|(name, value)| keep(name, value)) {
            return;
        }
        let entries = Arc::make_mut(shared);
        entries.retain(|(name, value)| keep(name, value));
        if entries.is_empty() {
            self.0 = None;
        }
    }

    /// Names and values in the order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(Text, Text)> {
        self.entries().iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn entries(&self) -> &[(Text, Text)] {
        self.0.as_ref().map_or(&[], |entries| entries.as_slice())
    }
}

impl<N: Into<Text>, V: Into<Text>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self::from_pairs(pairs.into_iter().map(|(name, value)| (name.into(), value.into())))
    }
}

/// The headers of one event, borrowed: what it shares with others of its batch, and what is its own.
/// An own entry hides a shared one of the same name.
#[derive(Debug, Clone, Copy)]
pub struct EventHeaders<'a> {
    pub(super) shared: &'a Headers,
    pub(super) own: &'a [(Text, Text)],
}

impl<'a> EventHeaders<'a> {
    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&'a Text> {
        match self.own.iter().find(|(known, _)| *known == *name) {
            Some((_, value)) => Some(value),
            None => self.shared.get(name),
        }
    }

    /// Names and values; shared ones first, each name once.
    pub fn iter(&self) -> impl Iterator<Item = (&'a Text, &'a Text)> + use<'a> {
        let own = self.own;
        self.shared
            .entries()
            .iter()
            .filter(move |(name, _)| !own.iter().any(|(hidden, _)| hidden == name))
            .chain(own)
            .map(|(name, value)| (name, value))
    }

    /// Whether both are stored at the same place of one batch, and so are equal: an encoder then need not look at them again.
    /// Equal headers may well be stored twice.
    pub fn is_same_place(&self, other: &EventHeaders<'_>) -> bool {
        let own = std::ptr::eq(self.own, other.own) || (self.own.is_empty() && other.own.is_empty());
        own && std::ptr::eq(self.shared, other.shared)
    }

    /// Whether both are the very same set of one batch. No for equal sets that are stored twice.
    pub fn is_same_set(&self, other: &Self) -> bool {
        let own = std::ptr::eq(self.own, other.own) || (self.own.is_empty() && other.own.is_empty());
        own && std::ptr::eq(self.shared, other.shared)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.shared.is_empty()
    }

    /// The same entries as a set of their own; without own entries the shared set itself, not a copy.
    pub fn to_headers(&self) -> Headers {
        if self.own.is_empty() {
            return self.shared.clone();
        }
        let entries: Entries = self.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Headers(Some(Arc::new(entries)))
    }
}
