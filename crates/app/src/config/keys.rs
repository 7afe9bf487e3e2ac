//! The keys of the configuration file.

use super::palette::TextRole;

/// The tables of the file. `prices` may also be a text.
pub(super) const SECTIONS: [&str; 6] = ["palette", "ls", "archive", "resume", "statusline", "export"];

/// The keys except those of the palette.
const KEYS: [&str; 16] = [
    "roots",
    "kept",
    "color",
    "theme",
    "time_zone",
    "prices",
    "ls.columns",
    "archive.exclude",
    "resume.command",
    "statusline.format",
    "statusline.separator",
    "export.format",
    "export.detail",
    "export.only_typed",
    "export.theme",
    "export.secrets",
];

/// Returns every key.
pub(super) fn list_keys() -> Vec<String> {
    let palette = TextRole::NAMED.iter().map(|(_, name)| format!("palette.{name}"));
    KEYS.iter().map(|key| (*key).to_owned()).chain(palette).collect()
}

/// Returns the key or table whose name is most similar to an unknown key. Returns `None` if none is similar.
pub(super) fn find_nearest(unknown: &str) -> Option<String> {
    /// Longer names are not similar to any key.
    const MAX_CHARS: usize = 40;
    if unknown.chars().count() > MAX_CHARS {
        return None;
    }
    let lower = unknown.to_lowercase().replace('-', "_");
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let candidates = list_keys().into_iter().chain(SECTIONS.iter().map(|name| (*name).to_owned()));
    // A key in the wrong table has the same last part.
    let distance = |key: &String| {
        let whole = strsim::osa_distance(&lower, key);
        let tail = strsim::osa_distance(&last(&lower), &last(key)) + 1;
        whole.min(tail)
    };
    let nearest = candidates.map(|key| (distance(&key), key)).min_by_key(|(distance, _)| *distance);
    nearest.filter(|(distance, key)| *distance <= (last(key).len() / 3).clamp(1, 3)).map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::find_nearest;

    #[test]
    fn similar_keys_are_found() {
        let cases = [
            ("colour", Some("color")),
            ("root", Some("roots")),
            ("time-zone", Some("time_zone")),
            ("timezone", Some("time_zone")),
            ("ls.colums", Some("ls.columns")),
            ("columns", Some("ls.columns")),
            ("resume.comand", Some("resume.command")),
            ("exports", Some("export")),
            ("export.onlytyped", Some("export.only_typed")),
            ("palette.promt", Some("palette.prompt")),
            ("editor", None),
            ("x", None),
        ];
        for (unknown, nearest) in cases {
            assert_eq!(find_nearest(unknown).as_deref(), nearest, "{unknown}");
        }
        assert_eq!(find_nearest(&"x".repeat(100_000)), None);
    }
}
