//! Lines that other processes appended to two versions of a file.

/// Merges the lines that were appended to a replaced file and those that were appended to the file in its place.
///
/// Lines that are in both, in the same order, occur once. Between two of them, the lines of the replaced file come first,
/// because they were written before the file was replaced. Truncated copies of lines of the replaced file are dropped.
pub(super) fn merge_lines(replaced: &[u8], visible: &[u8]) -> Vec<u8> {
    let replaced: Vec<&[u8]> = replaced.split_inclusive(|&b| b == b'\n').collect();
    let mut merged = Vec::with_capacity(replaced.len());
    let mut next = 0;
    let mut pending = Vec::new();
    for line in visible.split_inclusive(|&b| b == b'\n') {
        match replaced[next..].iter().position(|other| is_same_line(other, line)) {
            Some(offset) => {
                merged.extend_from_slice(&replaced[next..next + offset]);
                merged.append(&mut pending);
                merged.push(line);
                next += offset + 1;
            }
            None => pending.push(strip_torn_copy(line, &replaced[next..])),
        }
    }
    merged.extend_from_slice(&replaced[next..]);
    merged.append(&mut pending);
    join_lines(&merged)
}

/// Removes the truncated copy of one of `originals` from the start of a line that is not JSON. A copy is truncated if the
/// disk is full or the process dies, and the next line of another process follows it without a line feed.
fn strip_torn_copy<'l>(line: &'l [u8], originals: &[&[u8]]) -> &'l [u8] {
    if is_json(line) {
        return line;
    }
    for original in originals {
        let shared = common_prefix_len(line, original);
        let is_end = |at: &usize| line[*at..].trim_ascii().is_empty() || is_json(&line[*at..]);
        if let Some(at) = (1..=shared).rev().find(is_end) {
            return line[at..].trim_ascii_start();
        }
    }
    line
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Returns the length of the longest common prefix in bytes.
fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Returns `true` if two lines are equal. The line feed may be missing in one of them.
fn is_same_line(a: &[u8], b: &[u8]) -> bool {
    a.strip_suffix(b"\n").unwrap_or(a) == b.strip_suffix(b"\n").unwrap_or(b)
}

/// Joins lines. Adds a missing line feed to all but the last.
fn join_lines(lines: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        if bytes.last().is_some_and(|&last| last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
    }
    bytes
}

/// Returns `added` without our own bytes, which may be truncated: the bytes that other processes appended.
pub(super) fn strip_own_bytes(added: &[u8], ours: &[u8]) -> Vec<u8> {
    if ours.is_empty() {
        return added.to_vec();
    }
    if let Some(at) = memchr::memmem::find(added, ours) {
        return [&added[..at], &added[at + ours.len()..]].concat();
    }
    // Our bytes are truncated. They start at the start of a line.
    let ends = memchr::memchr_iter(b'\n', added).map(|at| at + 1);
    for start in std::iter::once(0).chain(ends).filter(|&start| start < added.len()) {
        if let Some(end) = find_truncated_end(&added[start..], ours) {
            return [&added[..start], &added[start + end..]].concat();
        }
    }
    added.to_vec()
}

/// Returns the length of a truncated copy of `ours` at the start of `bytes`. Returns `None` if there is none.
fn find_truncated_end(bytes: &[u8], ours: &[u8]) -> Option<usize> {
    let shared = common_prefix_len(bytes, ours);
    if shared == bytes.len() {
        return Some(shared);
    }
    // The complete lines that both share are ours. In the next line, our bytes end where the rest of the line is JSON.
    let start = memchr::memrchr(b'\n', &bytes[..shared]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
    if is_json(&bytes[start..end]) {
        return (start > 0).then_some(start);
    }
    let torn_end = (start..=shared).rev().find(|&at| is_json(&bytes[at..end]));
    torn_end.or((start > 0).then_some(start))
}

#[cfg(test)]
mod tests {
    use super::{merge_lines, strip_own_bytes};

    #[test]
    fn merged_lines_keep_their_order_and_occur_once() {
        let cases = [
            ("", "", ""),
            ("a\n", "", "a\n"),
            ("", "x\n", "x\n"),
            ("a\n", "x\n", "a\nx\n"),
            ("a\n", "a\nx\n", "a\nx\n"),
            ("a\nb\n", "a\nx\n", "a\nb\nx\n"),
            ("x\ny\n", "a\nx\nz\n", "a\nx\ny\nz\n"),
            ("a\na\n", "a\n", "a\na\n"),
            ("torn", "x\n", "torn\nx\n"),
            ("a", "a\nx\n", "a\nx\n"),
            ("{\"n\":1}\n", "{\"n\"", "{\"n\":1}\n"),
            ("{\"n\":1}\n", "{\"n\"{\"m\":2}\n", "{\"n\":1}\n{\"m\":2}\n"),
        ];
        for (replaced, visible, expected) in cases {
            let merged = merge_lines(replaced.as_bytes(), visible.as_bytes());
            assert_eq!(String::from_utf8_lossy(&merged), expected, "{replaced:?} {visible:?}");
        }
    }

    /// Lines that start with the same bytes are different lines.
    #[test]
    fn lines_with_a_common_prefix_are_merged_whole() {
        let first = "{\"parentUuid\":\"a\",\"n\":1}\n";
        let second = "{\"parentUuid\":\"b\",\"n\":2}\n";
        let merged = merge_lines(first.as_bytes(), second.as_bytes());
        assert_eq!(String::from_utf8_lossy(&merged), format!("{first}{second}"));
    }

    #[test]
    fn only_own_bytes_are_stripped() {
        let ours = "{\"type\":\"system\",\"n\":1}\n{\"type\":\"last-prompt\"}\n";
        let theirs = "{\"type\":\"user\",\"n\":2}\n";
        let cases = [
            (ours.to_owned(), String::new()),
            (format!("{ours}{theirs}"), theirs.to_owned()),
            (format!("{theirs}{ours}{theirs}"), theirs.repeat(2)),
            (theirs.to_owned(), theirs.to_owned()),
            // Our bytes are truncated, at any byte.
            (format!("{}{theirs}", &ours[..24]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..30]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..9]), theirs.to_owned()),
            (ours[..5].to_owned(), String::new()),
            (format!("{theirs}{}", &ours[..9]), theirs.to_owned()),
            (format!("{theirs}{}{theirs}", &ours[..30]), theirs.repeat(2)),
            // A complete line of theirs that starts like ours is theirs.
            (
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
            ),
        ];
        for (added, expected) in cases {
            let others = strip_own_bytes(added.as_bytes(), ours.as_bytes());
            assert_eq!(String::from_utf8_lossy(&others), expected, "{added}");
        }
    }
}
