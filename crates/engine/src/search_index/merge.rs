//! Merges segments to keep their number small: each is at least twice as large as the next.

use std::collections::{HashMap, HashSet};
use std::io;

use super::manifest::Manifest;
use super::postings_builder::for_each_posting;
use super::segment::{DocRange, FIELDS, HEX_TERMS, SUBWORD_BOUNDARIES, Segment, SegmentColumns, WORDS};
use super::store::SearchIndex;
use super::term_dictionary::{TermDictionary, TermDictionaryWriter};
use super::varint;
use crate::cache::{IndexError, PagedWriter};

/// Segments with a larger total size are not merged: merging them would take longer than it saves.
const MAX_MERGED_BYTES: u64 = 64 << 20;

/// Merges the newest segments if there are too many, and rewrites or drops the others if most of their docs are deleted.
///
/// Returns the manifest with the new segments. The old segment files stay. Returns an error if a segment is damaged or
/// cannot be read or written.
pub(crate) fn merge_segments(index: &SearchIndex, mut manifest: Manifest) -> io::Result<Manifest> {
    let live_files: HashSet<u64> = manifest.files.iter().map(|file| file.id).collect();
    let segments = std::mem::take(&mut manifest.segments);
    let sizes: Vec<u64> = segments.iter().map(|(_, size)| *size).collect();
    let (large, small) = segments.split_at(find_first_to_merge(&sizes));
    for &(id, size) in large {
        let opened = [Segment::open(&index.segment_path(id)).map_err(IndexError::into_io)?];
        let is_live = |range: &&DocRange| live_files.contains(&range.file);
        let live_docs: u32 = opened[0].doc_ranges.iter().filter(is_live).map(|range| range.count).sum();
        if live_docs >= opened[0].count.div_ceil(2) {
            manifest.segments.push((id, size));
        } else if opened[0].doc_ranges.iter().any(|range| is_live(&range)) {
            write_segment(index, &mut manifest, &opened, &live_files)?;
        }
    }
    match small {
        [] => {}
        [only] => manifest.segments.push(*only),
        _ => {
            let opened = small.iter().map(|(id, _)| Segment::open(&index.segment_path(*id)));
            let opened = opened.collect::<Result<Vec<Segment>, IndexError>>().map_err(IndexError::into_io)?;
            write_segment(index, &mut manifest, &opened, &live_files)?;
        }
    }
    Ok(manifest)
}

/// Writes the live docs of some segments as one segment and adds it to the manifest.
fn write_segment(
    index: &SearchIndex,
    manifest: &mut Manifest,
    segments: &[Segment],
    live_files: &HashSet<u64>,
) -> io::Result<()> {
    let id = manifest.next_id;
    let size = index.write_segment(id, |file| {
        let mut out = PagedWriter::new(file);
        write_merged(segments, live_files, &mut out).map_err(IndexError::into_io)?;
        out.finish()
    })?;
    manifest.next_id += 1;
    manifest.segments.push((id, size));
    Ok(())
}

/// Returns the index of the first segment to merge, given the sizes in bytes of all segments, oldest first.
///
/// All later segments are merged with it.
fn find_first_to_merge(sizes: &[u64]) -> usize {
    let mut first = sizes.len();
    let mut sum = 0;
    for (idx, size) in sizes.iter().enumerate().rev() {
        if sum + size > MAX_MERGED_BYTES || size / 2 > sum && idx + 1 < sizes.len() {
            break;
        }
        sum += size;
        first = idx;
    }
    first
}

/// Maps the doc ids of a segment to those of the merged one: for each range its old and new first doc, `None` if its file
/// is deleted.
struct DocIdMap(Vec<(u32, Option<u32>)>);

impl DocIdMap {
    /// Returns the new id of a doc. Returns `None` if its file is deleted.
    fn map_doc(&self, doc: u32) -> Option<u32> {
        let idx = self.0.partition_point(|(first, _)| *first <= doc).checked_sub(1)?;
        let (first, new_first) = self.0[idx];
        Some(new_first? + (doc - first))
    }
}

/// Writes the dictionaries and columns of a merged segment.
fn write_merged(
    segments: &[Segment],
    live_files: &HashSet<u64>,
    out: &mut PagedWriter,
) -> Result<(), IndexError> {
    let (columns, id_maps) = merge_columns(segments, live_files)?;
    for first_section in [WORDS, HEX_TERMS, SUBWORD_BOUNDARIES, FIELDS] {
        let opened: Result<Vec<TermDictionary<'_>>, IndexError> =
            segments.iter().map(|segment| segment.open_dictionary(first_section)).collect();
        merge_dictionaries(&opened?, &id_maps, out)?;
    }
    Ok(columns.write(out)?)
}

/// Merges the columns, ordered by file and within a file by age. Also returns one id map per segment.
fn merge_columns(
    segments: &[Segment],
    live_files: &HashSet<u64>,
) -> Result<(SegmentColumns, Vec<DocIdMap>), IndexError> {
    // The file id, the index of the segment and the index of the doc range in it.
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (segment_idx, segment) in segments.iter().enumerate() {
        let ranges = segment.doc_ranges.iter().enumerate();
        let live_ranges = ranges.filter(|(_, range)| live_files.contains(&range.file));
        order.extend(live_ranges.map(|(range_idx, range)| (range.file, segment_idx, range_idx)));
    }
    order.sort_unstable();
    let sources: Result<Vec<[Vec<u8>; 4]>, IndexError> = segments.iter().map(Segment::read_columns).collect();
    let sources = sources?;
    let mut new_firsts = HashMap::new();
    let mut columns = SegmentColumns::default();
    let mut open_file: Option<(u64, Vec<u8>)> = None;
    for (file, segment_idx, range_idx) in order {
        if open_file.as_ref().is_some_and(|(open, _)| *open != file) {
            columns.end_file(&open_file.take().unwrap_or_default().1);
        }
        let (_, calls) = open_file.get_or_insert_with(|| {
            columns.start_file(file);
            (file, Vec::new())
        });
        let range = &segments[segment_idx].doc_ranges[range_idx];
        calls.extend(segments[segment_idx].read_calls(range)?);
        new_firsts.insert((segment_idx, range_idx), columns.doc_count());
        let (first, end) = (range.first as usize, (range.first + range.count) as usize);
        let targets = [&mut columns.doc_infos, &mut columns.keys, &mut columns.times, &mut columns.spans];
        for ((target, source), width) in targets.into_iter().zip(&sources[segment_idx]).zip([2, 8, 8, 16]) {
            target.extend(source.get(first * width..end * width).ok_or(IndexError::Corrupt)?);
        }
    }
    if let Some((_, calls)) = open_file {
        columns.end_file(&calls);
    }
    let id_maps = segments.iter().enumerate().map(|(segment_idx, segment)| {
        let ranges = segment.doc_ranges.iter().enumerate();
        let new_first = |range_idx: usize| new_firsts.get(&(segment_idx, range_idx)).copied();
        DocIdMap(ranges.map(|(range_idx, range)| (range.first, new_first(range_idx))).collect())
    });
    Ok((columns, id_maps.collect()))
}

/// Writes the union of dictionaries term by term. Omits terms without live docs. `id_maps` has one map per dictionary.
fn merge_dictionaries(
    dictionaries: &[TermDictionary<'_>],
    id_maps: &[DocIdMap],
    out: &mut PagedWriter,
) -> Result<(), IndexError> {
    let all_terms: Result<Vec<_>, IndexError> =
        dictionaries.iter().map(TermDictionary::read_all_terms).collect();
    let all_terms = all_terms?;
    let all_lists: Result<Vec<Vec<u8>>, IndexError> =
        dictionaries.iter().map(TermDictionary::read_all_postings).collect();
    let all_lists = all_lists?;
    let mut next = vec![0; all_terms.len()];
    let mut writer = TermDictionaryWriter::new(out);
    let (mut postings, mut list) = (Vec::new(), Vec::new());
    while let Some(term) =
        all_terms.iter().zip(&next).filter_map(|(terms, &idx)| terms.get(idx)).map(|(term, _)| *term).min()
    {
        postings.clear();
        for (idx, terms) in all_terms.iter().enumerate() {
            let Some((_, range)) = terms.get(next[idx]).filter(|(next_term, _)| *next_term == term) else {
                continue;
            };
            next[idx] += 1;
            let list = all_lists[idx].get(range.clone()).ok_or(IndexError::Corrupt)?;
            let add_posting =
                |doc: u32, count: u8| postings.extend(id_maps[idx].map_doc(doc).map(|doc| (doc, count)));
            for_each_posting(list, add_posting).ok_or(IndexError::Corrupt)?;
        }
        if postings.is_empty() {
            continue;
        }
        postings.sort_unstable();
        list.clear();
        let mut previous = 0;
        for (doc, count) in &postings {
            varint::write(&mut list, u64::from(doc - previous) << 2 | u64::from(count - 1));
            previous = *doc;
        }
        writer.add(out, term, &list)?;
    }
    Ok(writer.finish(out)?)
}

#[cfg(test)]
mod tests {
    use super::find_first_to_merge;

    #[test]
    fn small_new_segments_are_merged_and_large_ones_stay() {
        for (sizes, first) in [
            (&[][..], 0),
            (&[100][..], 0),
            (&[100, 1][..], 1),
            (&[100, 1, 1][..], 1),
            (&[100, 60, 50][..], 0),
            (&[100 << 20, 1 << 20, 1 << 20][..], 1),
            (&[100 << 20, 60 << 20, 50 << 20][..], 2),
        ] {
            assert_eq!(find_first_to_merge(sizes), first, "{sizes:?}");
        }
    }
}
