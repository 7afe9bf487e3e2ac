//! Says by what code files are read: facts that other code has kept may mean something else and are not believed.

use std::path::{Path, PathBuf};

/// What reading stands on: this crate and core, where it lies beside.
const SOURCES: [&str; 2] = ["src", "../core/src"];

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in SOURCES.map(|folder| here.join(folder)).into_iter().filter(|folder| folder.exists()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        gather(&folder, &mut files);
    }
    files.sort();
    // FNV-1a: any change must show, nobody tries to hide one.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(&file).unwrap_or_default() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=RETHREAD_CODE={hash:016x}");
}

/// Finds all files below a folder.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        } else {
            files.push(path);
        }
    }
}
