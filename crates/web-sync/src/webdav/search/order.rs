use std::cmp::Ordering;

use dav_protocol::{Name, bodies::SortKey, names::DAV};
use library::LocatedFile;

use super::property::Property;

/// The order of results. Files that are equal in the client's order are ordered newest first.
pub(super) struct Order {
    keys: Vec<(Property, bool)>,
    is_newest_first: bool,
}

impl Order {
    /// Builds an order from these keys. It ignores keys that cannot order files.
    pub(super) fn new(keys: &[SortKey]) -> Self {
        const MODIFIED: Name = Name::new(DAV, "getlastmodified");
        let known: Vec<_> = keys
            .iter()
            .filter_map(|key| Some((&key.property, Property::named(&key.property)?, key.is_descending)))
            .collect();
        let is_newest_first =
            known.first().is_none_or(|(name, _, is_descending)| **name == MODIFIED && *is_descending);
        let keys = known.into_iter().map(|(_, property, is_descending)| (property, is_descending)).collect();
        Self { keys, is_newest_first }
    }

    /// Whether the latest second comes first.
    pub(super) fn is_newest_first(&self) -> bool {
        self.is_newest_first
    }

    pub(super) fn compare(&self, a: &LocatedFile, b: &LocatedFile) -> Ordering {
        let by_key = |(property, is_descending): &(Property, bool)| {
            let order = property.compare(&a.entry, &b.entry);
            if *is_descending { order.reverse() } else { order }
        };
        let by_keys = self.keys.iter().map(by_key).find(|order| order.is_ne());
        let newest = |file: &LocatedFile| (file.entry.modified_at(), file.entry.id);
        by_keys.unwrap_or_else(|| newest(b).cmp(&newest(a)))
    }
}
