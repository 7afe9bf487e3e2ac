//! [`Pack`] for lists, maps and sets.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::{Pack, Unpacker};

/// Returns the capacity to reserve for `count` values, limited to the memory that the remaining bytes could fill.
fn initial_capacity<T>(count: usize, from: &Unpacker<'_>) -> usize {
    count.min(from.remaining() / size_of::<T>().max(1))
}

impl<T: Pack> Pack for Vec<T> {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.len().pack_into(out);
        self.iter().for_each(|value| value.pack_into(out));
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<Vec<T>> {
        let count = from.take_count()?;
        let mut values = Vec::with_capacity(initial_capacity::<T>(count, from));
        for _ in 0..count {
            values.push(T::unpack_from(from)?);
        }
        Some(values)
    }
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.len().pack_into(out);
        for (key, value) in self {
            key.pack_into(out);
            value.pack_into(out);
        }
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<BTreeMap<K, V>> {
        let count = from.take_count()?;
        (0..count).map(|_| Pack::unpack_from(from)).collect()
    }
}

impl<K: Pack + Eq + Hash, V: Pack, S: BuildHasher + Default> Pack for HashMap<K, V, S> {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.len().pack_into(out);
        for (key, value) in self {
            key.pack_into(out);
            value.pack_into(out);
        }
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<HashMap<K, V, S>> {
        let count = from.take_count()?;
        let mut values =
            HashMap::with_capacity_and_hasher(initial_capacity::<(K, V)>(count, from), S::default());
        for _ in 0..count {
            let (key, value) = Pack::unpack_from(from)?;
            values.insert(key, value);
        }
        Some(values)
    }
}

impl<T: Pack + Eq + Hash, S: BuildHasher + Default> Pack for HashSet<T, S> {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.len().pack_into(out);
        self.iter().for_each(|value| value.pack_into(out));
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<HashSet<T, S>> {
        let count = from.take_count()?;
        let mut values = HashSet::with_capacity_and_hasher(initial_capacity::<T>(count, from), S::default());
        for _ in 0..count {
            values.insert(T::unpack_from(from)?);
        }
        Some(values)
    }
}
