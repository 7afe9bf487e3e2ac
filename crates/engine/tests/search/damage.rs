//! A damaged index loses no hit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::store::TestStore;

/// The number of bytes per checksum in `cache::paged_file`.
const PAGE_BYTES: usize = 16 << 10;

/// Returns lines that fill several pages of every section of the index.
fn write_lines() -> String {
    let mut text = String::new();
    for idx in 0..9000 {
        let words = format!("common word{idx} parentUuid{idx} 漢字");
        let content = if idx % 3 == 0 {
            format!(
                "[{{\"type\":\"tool_use\",\"id\":\"toolu_{idx}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{words}\"}}}}]"
            )
        } else {
            format!("\"{words}\"")
        };
        let _ = writeln!(
            text,
            "{{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-{idx:012}\",\"parentUuid\":null,\"sessionId\":\"x\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"assistant\",\"content\":{content}}}}}"
        );
    }
    text
}

/// Reads the files of the index by path.
fn read_index(store: &TestStore) -> BTreeMap<PathBuf, Vec<u8>> {
    let read_dir = |folder: PathBuf| {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
    };
    let folder = read_dir(store.folder.path().join("cache/2")).next().expect("an index");
    let files = read_dir(folder).filter(|path| path.extension().is_none_or(|ext| ext == "words"));
    files.map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
}

/// Restores the files of the index.
fn write_index(store: &TestStore, index: &BTreeMap<PathBuf, Vec<u8>>) {
    for path in read_index(store).into_keys().filter(|path| !index.contains_key(path)) {
        std::fs::remove_file(path).expect("removed");
    }
    for (path, bytes) in index {
        std::fs::write(path, bytes).expect("written");
    }
}

/// Inverts bytes all over a page, so that a search that uses the page cannot give the right hits by chance.
fn damage_page(bytes: &mut [u8], page: usize) {
    let page = bytes.chunks_mut(PAGE_BYTES).nth(page).expect("a page");
    page.iter_mut().step_by(5).for_each(|byte| *byte = !*byte);
}

/// Damages every page of every index file in turn.
#[test]
fn damaged_index_page_loses_no_hit() {
    let store = TestStore::new();
    store.write(0, write_lines());
    let cache = store.cache();
    let queries = [
        "word8999",
        "parentuuid12",
        "common tool:Bash word77",
        "\"parentUuid5 漢\"",
        "is:abandoned word4242",
    ];
    let expected = queries.map(|query| store.hits(query, None));
    assert!(expected.iter().all(|hits| !hits.is_empty()), "{expected:?}");
    store.hits(queries[0], Some(&cache));
    let index = read_index(&store);
    let (mut page_count, mut noticed_count) = (0, 0);
    for (path, bytes) in &index {
        for page in 0..bytes.len().div_ceil(PAGE_BYTES) {
            page_count += 1;
            let mut is_noticed = false;
            for (query, expected) in queries.iter().zip(&expected) {
                // The search before may have built the index again.
                let mut damaged = bytes.clone();
                damage_page(&mut damaged, page);
                write_index(&store, &index);
                std::fs::write(path, damaged).expect("written");
                let (hits, warning_count) = store.hits_and_warnings(query, Some(&cache));
                assert_eq!(hits, *expected, "{query} {} page {page}", path.display());
                assert!(
                    warning_count <= 1,
                    "{query} {} page {page}: {warning_count} warnings",
                    path.display()
                );
                is_noticed |= warning_count > 0;
            }
            noticed_count += usize::from(is_noticed);
        }
    }
    assert!(
        page_count > 32 && noticed_count * 2 > page_count,
        "{noticed_count} of {page_count} pages are read"
    );
}
