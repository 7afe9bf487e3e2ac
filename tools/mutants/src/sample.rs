//! Selects faults at random, but always the same ones for a seed.

use std::path::Path;

use crate::fault::Fault;

/// The number of faults per function, so that long functions do not dominate the sample.
const MAX_PER_FUNCTION: usize = 3;

/// Shuffles the faults. The order depends only on the faults and on the seed.
pub fn shuffle(faults: &mut [Fault], seed: u64) {
    let mut state = seed;
    for last in (1..faults.len()).rev() {
        faults.swap(last, (next_random(&mut state) % (last as u64 + 1)) as usize);
    }
}

/// Returns the next number of a SplitMix64 sequence.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns the first `count` faults that do not overlap, with at most three of them in a function.
pub fn choose<'f>(faults: impl Iterator<Item = &'f Fault>, count: usize) -> Vec<&'f Fault> {
    let mut chosen: Vec<&Fault> = Vec::new();
    for fault in faults {
        let is_same_function =
            |other: &&&Fault| other.path == fault.path && other.function_range == fault.function_range;
        let is_free = chosen.iter().filter(is_same_function).count() < MAX_PER_FUNCTION
            && !chosen.iter().any(|other| other.overlaps(fault) || other.key() == fault.key());
        if is_free {
            chosen.push(fault);
        }
        if chosen.len() == count {
            break;
        }
    }
    chosen
}

/// Returns a hash of the files that contain the faults.
pub fn hash_sources(source: &Path, faults: &[Fault]) -> u64 {
    let mut paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
    paths.dedup();
    let bytes = paths.iter().flat_map(|path| std::fs::read(source.join(path)).unwrap_or_default());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
