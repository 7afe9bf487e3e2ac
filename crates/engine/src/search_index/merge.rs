//! Puts segments together, so that there are never many of them: each is at least twice as large as the next.

use std::collections::{HashMap, HashSet};
use std::io;

use super::manifest::Manifest;
use super::postings_builder::entries;
use super::segment::{Columns, DocRange, FIELDS, HEX_TERMS, SUBWORD_BOUNDARIES, Segment, WORDS};
use super::store::SearchIndex;
use super::term_dictionary::{self, TermDictionary};
use super::varint;
use crate::cache::paged_file::{IndexError, PagedWriter};

/// Segments that are larger than this together stay apart: putting them together takes longer than it saves.
const LARGE: u64 = 64 << 20;

/// Puts the newest segments together where they have become too many, and takes away what is mostly of files that are gone.
pub(crate) fn merge_segments(shelf: &SearchIndex, mut catalog: Manifest) -> io::Result<Manifest> {
    let live: HashSet<u64> = catalog.files.iter().map(|row| row.id).collect();
    let segments = std::mem::take(&mut catalog.segments);
    let (large, small) =
        segments.split_at(first_of(&segments.iter().map(|(_, size)| *size).collect::<Vec<u64>>()));
    for &known in large {
        let opened = [Segment::open(&shelf.segment(known.0)).map_err(IndexError::into_io)?];
        let is_live = |stretch: &&DocRange| live.contains(&stretch.file);
        let left: u32 = opened[0].stretches.iter().filter(is_live).map(|stretch| stretch.count).sum();
        if left >= opened[0].count.div_ceil(2) {
            catalog.segments.push(known);
        } else if opened[0].stretches.iter().any(|stretch| is_live(&stretch)) {
            write(shelf, &mut catalog, &opened, &live)?;
        }
    }
    match small {
        [] => {}
        [only] => catalog.segments.push(*only),
        _ => {
            let opened = small.iter().map(|(no, _)| Segment::open(&shelf.segment(*no)));
            let opened = opened.collect::<Result<Vec<Segment>, IndexError>>().map_err(IndexError::into_io)?;
            write(shelf, &mut catalog, &opened, &live)?;
        }
    }
    Ok(catalog)
}

/// Writes what is left of some segments as one.
fn write(
    shelf: &SearchIndex,
    catalog: &mut Manifest,
    segments: &[Segment],
    live: &HashSet<u64>,
) -> io::Result<()> {
    let no = catalog.next;
    let size = shelf.write_segment(no, |file| {
        let mut printer = PagedWriter::new(file);
        write_merged(segments, live, &mut printer).map_err(IndexError::into_io)?;
        printer.finish()
    })?;
    catalog.next += 1;
    catalog.segments.push((no, size));
    Ok(())
}

/// Returns from which segment on they are put together, by their sizes.
fn first_of(sizes: &[u64]) -> usize {
    let mut first = sizes.len();
    let mut sum = 0;
    for (no, size) in sizes.iter().enumerate().rev() {
        if sum + size > LARGE || size / 2 > sum && no + 1 < sizes.len() {
            break;
        }
        sum += size;
        first = no;
    }
    first
}

/// Where the entries of a segment go: for each stretch the distance, or `None` where its file is gone.
struct DocIdMap(Vec<(u32, Option<u32>)>);

impl DocIdMap {
    fn to(&self, entry: u32) -> Option<u32> {
        let no = self.0.partition_point(|(first, _)| *first <= entry).checked_sub(1)?;
        let (first, to) = self.0[no];
        Some(to? + (entry - first))
    }
}

fn write_merged(
    segments: &[Segment],
    live: &HashSet<u64>,
    printer: &mut PagedWriter,
) -> Result<(), IndexError> {
    let (columns, moves) = columns(segments, live)?;
    for first in [WORDS, HEX_TERMS, SUBWORD_BOUNDARIES, FIELDS] {
        let opened: Result<Vec<TermDictionary<'_>>, IndexError> =
            segments.iter().map(|segment| segment.dictionary(first)).collect();
        terms(&opened?, &moves, printer)?;
    }
    Ok(columns.write(printer)?)
}

/// Puts the columns together: file by file, and of each file in the order in which it grew.
fn columns(segments: &[Segment], live: &HashSet<u64>) -> Result<(Columns, Vec<DocIdMap>), IndexError> {
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (no, segment) in segments.iter().enumerate() {
        let stretches = segment.stretches.iter().enumerate();
        order.extend(stretches.filter(|(_, s)| live.contains(&s.file)).map(|(k, s)| (s.file, no, k)));
    }
    order.sort_unstable();
    let read: Result<Vec<[Vec<u8>; 4]>, IndexError> = segments.iter().map(Segment::columns).collect();
    let read = read?;
    let mut to = HashMap::new();
    let mut columns = Columns::default();
    let mut open: Option<(u64, Vec<u8>)> = None;
    for (file, no, k) in order {
        if open.as_ref().is_some_and(|(known, _)| *known != file) {
            columns.end(&open.take().unwrap_or_default().1);
        }
        let calls = &mut open
            .get_or_insert_with(|| {
                columns.begin(file);
                (file, Vec::new())
            })
            .1;
        let stretch = &segments[no].stretches[k];
        calls.extend(segments[no].calls(stretch)?);
        to.insert((no, k), columns.count());
        let (first, end) = (stretch.first as usize, (stretch.first + stretch.count) as usize);
        let into = [&mut columns.briefs, &mut columns.keys, &mut columns.times, &mut columns.places];
        for ((into, from), width) in into.into_iter().zip(&read[no]).zip([2, 8, 8, 16]) {
            into.extend(from.get(first * width..end * width).ok_or(IndexError::Changed)?);
        }
    }
    if let Some((_, calls)) = open {
        columns.end(&calls);
    }
    let moves = segments.iter().enumerate().map(|(no, segment)| {
        let stretches = segment.stretches.iter().enumerate();
        DocIdMap(stretches.map(|(k, stretch)| (stretch.first, to.get(&(no, k)).copied())).collect())
    });
    Ok((columns, moves.collect()))
}

/// Puts dictionaries together, term by term.
fn terms(
    dictionaries: &[TermDictionary<'_>],
    moves: &[DocIdMap],
    printer: &mut PagedWriter,
) -> Result<(), IndexError> {
    let all: Result<Vec<_>, IndexError> = dictionaries.iter().map(TermDictionary::all).collect();
    let all = all?;
    let mut at = vec![0; all.len()];
    let mut writer = term_dictionary::TermDictionaryWriter::new(printer);
    let (mut found, mut list) = (Vec::new(), Vec::new());
    let lists: Result<Vec<Vec<u8>>, IndexError> =
        dictionaries.iter().map(TermDictionary::all_lists).collect();
    let lists = lists?;
    while let Some(term) =
        all.iter().zip(&at).filter_map(|(terms, &at)| terms.get(at)).map(|(term, _)| *term).min()
    {
        found.clear();
        for (no, terms) in all.iter().enumerate() {
            let Some((_, range)) = terms.get(at[no]).filter(|(name, _)| *name == term) else { continue };
            at[no] += 1;
            let list = lists[no].get(range.clone()).ok_or(IndexError::Changed)?;
            let moved = |entry: u32, count: u8| found.extend(moves[no].to(entry).map(|entry| (entry, count)));
            entries(list, moved).ok_or(IndexError::Changed)?;
        }
        if found.is_empty() {
            continue;
        }
        found.sort_unstable();
        list.clear();
        let mut before = 0;
        for (entry, count) in &found {
            varint::put(&mut list, u64::from(entry - before) << 2 | u64::from(count - 1));
            before = *entry;
        }
        writer.add(printer, term, &list)?;
    }
    Ok(writer.finish(printer)?)
}

#[cfg(test)]
mod tests {
    use super::first_of;

    #[test]
    fn segments_stay_few_and_large_ones_stay() {
        for (sizes, first) in [
            (&[][..], 0),
            (&[100][..], 0),
            (&[100, 1][..], 1),
            (&[100, 1, 1][..], 1),
            (&[100, 60, 50][..], 0),
            (&[100 << 20, 1 << 20, 1 << 20][..], 1),
            (&[100 << 20, 60 << 20, 50 << 20][..], 2),
        ] {
            assert_eq!(first_of(sizes), first, "{sizes:?}");
        }
    }
}
