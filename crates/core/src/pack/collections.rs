//! Lists, maps and sets.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::{Pack, Unpacker};

/// Returns for how many values room is made at once: no more bytes than are left to read. The rest comes as it is read.
fn room<T>(count: usize, from: &Unpacker<'_>) -> usize {
    count.min(from.left() / size_of::<T>().max(1))
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        self.iter().for_each(|value| value.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Vec<T>> {
        let count = from.count()?;
        let mut values = Vec::with_capacity(room::<T>(count, from));
        for _ in 0..count {
            values.push(T::unpack(from)?);
        }
        Some(values)
    }
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        for (key, value) in self {
            key.pack(out);
            value.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<BTreeMap<K, V>> {
        let count = from.count()?;
        (0..count).map(|_| Pack::unpack(from)).collect()
    }
}

impl<K: Pack + Eq + Hash, V: Pack, S: BuildHasher + Default> Pack for HashMap<K, V, S> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        for (key, value) in self {
            key.pack(out);
            value.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<HashMap<K, V, S>> {
        let count = from.count()?;
        let mut values = HashMap::with_capacity_and_hasher(room::<(K, V)>(count, from), S::default());
        for _ in 0..count {
            let (key, value) = Pack::unpack(from)?;
            values.insert(key, value);
        }
        Some(values)
    }
}

impl<T: Pack + Eq + Hash, S: BuildHasher + Default> Pack for HashSet<T, S> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        self.iter().for_each(|value| value.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<HashSet<T, S>> {
        let count = from.count()?;
        let mut values = HashSet::with_capacity_and_hasher(room::<T>(count, from), S::default());
        for _ in 0..count {
            values.insert(T::unpack(from)?);
        }
        Some(values)
    }
}
