//! The supported languages, by name and by file name.

/// A programming language or file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// C and C++, which share a grammar.
    C,
    CSharp,
    Css,
    Dart,
    Diff,
    Docker,
    Elixir,
    Go,
    Haskell,
    /// HTML, XML, SVG, Vue.
    Html,
    Ini,
    Java,
    /// JavaScript and TypeScript, with or without JSX.
    JavaScript,
    Json,
    Kotlin,
    Lua,
    Make,
    Markdown,
    Php,
    PowerShell,
    Python,
    R,
    Ruby,
    Rust,
    Scala,
    Shell,
    Sql,
    Swift,
    Toml,
    Yaml,
    Zig,
}

/// Language names and file extensions, sorted by name.
const NAMES: &[(&str, Language)] = &[
    ("astro", Language::Html),
    ("bash", Language::Shell),
    ("bzl", Language::Python),
    ("c", Language::C),
    ("c#", Language::CSharp),
    ("c++", Language::C),
    ("cc", Language::C),
    ("cfg", Language::Ini),
    ("cjs", Language::JavaScript),
    ("conf", Language::Ini),
    ("console", Language::Shell),
    ("containerfile", Language::Docker),
    ("cpp", Language::C),
    ("cs", Language::CSharp),
    ("csharp", Language::CSharp),
    ("csproj", Language::Html),
    ("css", Language::Css),
    ("cts", Language::JavaScript),
    ("cu", Language::C),
    ("cuda", Language::C),
    ("cxx", Language::C),
    ("dart", Language::Dart),
    ("diff", Language::Diff),
    ("docker", Language::Docker),
    ("dockerfile", Language::Docker),
    ("dotenv", Language::Ini),
    ("editorconfig", Language::Ini),
    ("elixir", Language::Elixir),
    ("env", Language::Ini),
    ("ex", Language::Elixir),
    ("exs", Language::Elixir),
    ("fish", Language::Shell),
    ("gemspec", Language::Ruby),
    ("geojson", Language::Json),
    ("glsl", Language::C),
    ("go", Language::Go),
    ("golang", Language::Go),
    ("gradle", Language::Java),
    ("groovy", Language::Java),
    ("gyp", Language::Python),
    ("h", Language::C),
    ("haskell", Language::Haskell),
    ("hh", Language::C),
    ("hpp", Language::C),
    ("hs", Language::Haskell),
    ("htm", Language::Html),
    ("html", Language::Html),
    ("hxx", Language::C),
    ("ini", Language::Ini),
    ("ino", Language::C),
    ("ipynb", Language::Json),
    ("java", Language::Java),
    ("javascript", Language::JavaScript),
    ("js", Language::JavaScript),
    ("json", Language::Json),
    ("json5", Language::Json),
    ("jsonc", Language::Json),
    ("jsonl", Language::Json),
    ("jsx", Language::JavaScript),
    ("kotlin", Language::Kotlin),
    ("ksh", Language::Shell),
    ("kt", Language::Kotlin),
    ("kts", Language::Kotlin),
    ("less", Language::Css),
    ("lua", Language::Lua),
    ("luau", Language::Lua),
    ("m", Language::C),
    ("mak", Language::Make),
    ("make", Language::Make),
    ("makefile", Language::Make),
    ("markdown", Language::Markdown),
    ("md", Language::Markdown),
    ("mdx", Language::Markdown),
    ("metal", Language::C),
    ("mjs", Language::JavaScript),
    ("mk", Language::Make),
    ("mm", Language::C),
    ("mts", Language::JavaScript),
    ("mysql", Language::Sql),
    ("ndjson", Language::Json),
    ("node", Language::JavaScript),
    ("objc", Language::C),
    ("objective-c", Language::C),
    ("patch", Language::Diff),
    ("php", Language::Php),
    ("plist", Language::Html),
    ("plsql", Language::Sql),
    ("postgres", Language::Sql),
    ("postgresql", Language::Sql),
    ("powershell", Language::PowerShell),
    ("properties", Language::Ini),
    ("ps", Language::PowerShell),
    ("ps1", Language::PowerShell),
    ("psm1", Language::PowerShell),
    ("psql", Language::Sql),
    ("pwsh", Language::PowerShell),
    ("py", Language::Python),
    ("py3", Language::Python),
    ("pyi", Language::Python),
    ("python", Language::Python),
    ("python3", Language::Python),
    ("r", Language::R),
    ("rake", Language::Ruby),
    ("rb", Language::Ruby),
    ("rs", Language::Rust),
    ("rscript", Language::R),
    ("rss", Language::Html),
    ("ruby", Language::Ruby),
    ("rust", Language::Rust),
    ("sass", Language::Css),
    ("sbt", Language::Scala),
    ("sc", Language::Scala),
    ("scala", Language::Scala),
    ("scss", Language::Css),
    ("sh", Language::Shell),
    ("shell", Language::Shell),
    ("shell-session", Language::Shell),
    ("sql", Language::Sql),
    ("sqlite", Language::Sql),
    ("starlark", Language::Python),
    ("svelte", Language::Html),
    ("svg", Language::Html),
    ("swift", Language::Swift),
    ("terminal", Language::Shell),
    ("toml", Language::Toml),
    ("ts", Language::JavaScript),
    ("tsx", Language::JavaScript),
    ("typescript", Language::JavaScript),
    ("vue", Language::Html),
    ("webmanifest", Language::Json),
    ("xhtml", Language::Html),
    ("xml", Language::Html),
    ("xsd", Language::Html),
    ("xsl", Language::Html),
    ("yaml", Language::Yaml),
    ("yml", Language::Yaml),
    ("zig", Language::Zig),
    ("zsh", Language::Shell),
];

impl Language {
    /// Returns the language with this name or file extension, in any case. Returns `None` if it is unknown.
    pub(crate) fn from_name(name: &str) -> Option<Language> {
        // No name in the table is longer.
        if name.len() > 24 {
            return None;
        }
        let name = name.trim().trim_start_matches("language-").to_ascii_lowercase();
        NAMES.binary_search_by(|(known, _)| (*known).cmp(&name)).ok().map(|at| NAMES[at].1)
    }

    /// Returns the language of a file, by its name or extension. Returns `None` if it is unknown.
    pub(crate) fn from_path(path: &str) -> Option<Language> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        match (stem.as_str(), name) {
            ("dockerfile" | "containerfile", _) => return Some(Language::Docker),
            ("makefile" | "gnumakefile" | "justfile", _) => return Some(Language::Make),
            ("gemfile" | "rakefile" | "vagrantfile" | "podfile", _) => return Some(Language::Ruby),
            (_, "Cargo.lock" | "poetry.lock" | "uv.lock" | "Pipfile") => return Some(Language::Toml),
            (_, ".env" | ".gitconfig" | ".editorconfig" | ".npmrc") => return Some(Language::Ini),
            (_, ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".envrc" | ".zprofile") => {
                return Some(Language::Shell);
            }
            _ => {}
        }
        let (_, extension) = name.rsplit_once('.')?;
        Language::from_name(extension)
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, NAMES};

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn languages_are_found_by_name_and_file() {
        let named = [
            ("rust", Some(Language::Rust)),
            ("RS", Some(Language::Rust)),
            ("tsx", Some(Language::JavaScript)),
            ("c++", Some(Language::C)),
            ("c#", Some(Language::CSharp)),
            ("zsh", Some(Language::Shell)),
            ("console", Some(Language::Shell)),
            ("jsonc", Some(Language::Json)),
            ("svg", Some(Language::Html)),
            ("klingon", None),
            ("", None),
            ("a name that is far too long to be one", None),
        ];
        for (name, language) in named {
            assert_eq!(Language::from_name(name), language, "{name}");
        }
        let files = [
            ("/a/b/main.rs", Some(Language::Rust)),
            ("C:\\x\\App.TSX", Some(Language::JavaScript)),
            ("Dockerfile", Some(Language::Docker)),
            ("dir/Dockerfile.dev", Some(Language::Docker)),
            ("Makefile", Some(Language::Make)),
            ("Cargo.lock", Some(Language::Toml)),
            (".env", Some(Language::Ini)),
            ("a.tar.gz", None),
            ("LICENSE", None),
            ("", None),
            ("x.", None),
            ("/home/me/.bashrc", Some(Language::Shell)),
        ];
        for (path, language) in files {
            assert_eq!(Language::from_path(path), language, "{path}");
        }
    }
}
