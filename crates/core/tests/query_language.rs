//! The search language: what a typed line asks for, what is wrong with it, and that it reads back as it was written.

use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::query::{Literal, Predicate, Query, QueryError, TextSource};

/// Knows two moments: seven days ago, and the beginning of 1970; and reads what it wrote itself.
fn when(text: &str) -> Option<Timestamp> {
    match text {
        "7d" => Some(Timestamp(1_700_000_000_000)),
        "1970-01-01" => Some(Timestamp(0)),
        text => text.parse::<jiff::Timestamp>().ok().map(|stamp| Timestamp(stamp.as_millisecond())),
    }
}

fn parse(text: &str) -> Result<Query, QueryError> {
    Query::parse(text, &when)
}

fn dump(atom: &Literal) -> String {
    let want = match &atom.want {
        Predicate::Words(needle) => {
            format!("words[{}]", needle.words().expect("words have words").escape_debug())
        }
        Predicate::Pattern(needle) => {
            assert!(needle.words().is_none());
            format!("pattern[{}]", needle.text())
        }
        Predicate::Role(sources) => {
            format!("role[{}]", sources.iter().map(TextSource::name).collect::<Vec<_>>().join(" "))
        }
        Predicate::Tool(value) => format!("tool[{value}]"),
        Predicate::File(value) => format!("file[{value}]"),
        Predicate::Model(value) => format!("model[{value}]"),
        Predicate::Branch(value) => format!("branch[{value}]"),
        Predicate::Project(value) => format!("project[{value}]"),
        Predicate::Session(value) => format!("session[{value}]"),
        Predicate::Error(yes) => format!("error[{yes}]"),
        Predicate::Since(moment) => format!("since[{}]", moment.0),
        Predicate::Until(moment) => format!("until[{}]", moment.0),
        Predicate::Is(label) => format!("is[{}]", label.name()),
    };
    format!("{}{want}", if atom.not { "not " } else { "" })
}

/// Draws a query: groups apart by `&`, their atoms by `or`.
fn drawn(text: &str) -> String {
    let query = parse(text).unwrap_or_else(|bad| panic!("{text}: {bad:?}"));
    let group = |group: &Vec<Literal>| group.iter().map(dump).collect::<Vec<_>>().join(" or ");
    query.clauses.iter().map(group).collect::<Vec<_>>().join(" & ")
}

#[test]
fn what_is_typed_is_what_is_looked_for() {
    let cases = [
        ("docker", "words[docker]"),
        ("  a \t b\n", "words[a] & words[b]"),
        ("a\u{3000}b", "words[a] & words[b]"),
        ("Docker ÜBER", "words[Docker] & words[ÜBER]"),
        // Phrases.
        (r#""exact phrase""#, "words[exact phrase]"),
        ("“exact phrase” x", "words[exact phrase] & words[x]"),
        ("„exact phrase“ ”y”", "words[exact phrase] & words[y]"),
        (r#""never closed OR -x"#, "words[never closed OR -x]"),
        (r#""say ""hi"" now""#, r#"words[say \"hi\" now]"#),
        (r#"""""#, r#"words[\"]"#),
        (r#""a"b"#, "words[a] & words[b]"),
        (r#"println!("hello there")"#, r#"words[println!(\"hello] & words[there\")]"#),
        (r#""C:\dir\" x"#, r"words[C:\\dir\\] & words[x]"),
        (r#"" a ""#, "words[ a ]"),
        // Negations.
        ("a -b", "words[a] & not words[b]"),
        (r#"a -"b c" -tool:Bash -/d+/"#, "words[a] & not words[b c] & not tool[Bash] & not pattern[d+]"),
        ("-", "words[-]"),
        ("- a", "words[-] & words[a]"),
        ("--flag ---", "words[--flag] & words[---]"),
        (r#"a -"-b""#, "words[a] & not words[-b]"),
        ("well-known", "words[well-known]"),
        // Alternatives.
        ("a b OR c -d", "words[a] & words[b] or words[c] & not words[d]"),
        ("a OR b OR c", "words[a] or words[b] or words[c]"),
        ("a | b", "words[a] or words[b]"),
        ("a OR -b", "words[a] or not words[b]"),
        ("a or b", "words[a] & words[or] & words[b]"),
        ("ls|grep a||b || ORDER", "words[ls|grep] & words[a||b] & words[||] & words[ORDER]"),
        (r#"a "OR" b "|""#, "words[a] & words[OR] & words[b] & words[|]"),
        ("role:user OR tool:Read x", "role[prompt] or tool[Read] & words[x]"),
        // Patterns and paths.
        ("/a.b/", "pattern[a.b]"),
        (r"/error: .* failed/ x", "pattern[error: .* failed] & words[x]"),
        (r"/a\/ b/", r"pattern[a\/ b]"),
        ("/https?://x/", "pattern[https?://x]"),
        ("/(?i)tmp/", "pattern[(?i)tmp]"),
        ("/usr/bin", "words[/usr/bin]"),
        ("/tmp/ /etc/conf.d/", "words[/tmp/] & words[/etc/conf.d/]"),
        ("/compact src/", "words[/compact] & words[src/]"),
        ("/usr/*.c and src/", "words[/usr/*.c] & words[and] & words[src/]"),
        (r#""/a.b/""#, "words[/a.b/]"),
        ("/ // /// /a+", "words[/] & words[//] & words[///] & words[/a+]"),
        ("cd / a+ b/", "words[cd] & words[/] & words[a+] & words[b/]"),
        ("a/b+c/", "words[a/b+c/]"),
        // Fields.
        ("role:user ROLE:Assistant", "role[prompt] & role[answer]"),
        ("role:tool role:result", "role[tool result] & role[result]"),
        ("role:context role:summary", "role[context] & role[summary]"),
        ("tool:Bash tool:mcp__x", "tool[Bash] & tool[mcp__x]"),
        ("file:src/main.rs file:/etc", "file[src/main.rs] & file[/etc]"),
        (r#"project:"my dir" x"#, "project[my dir] & words[x]"),
        ("project:“my dir”", "project[my dir]"),
        (r#"x -project:"my "#, "words[x] & not project[my]"),
        ("model:opus branch:feat/x session:3f2a", "model[opus] & branch[feat/x] & session[3f2a]"),
        ("error:yes error:No", "error[true] & error[false]"),
        ("since:7d until:1970-01-01", "since[1700000000000] & until[0]"),
        ("is:active is:Abandoned", "is[active] & is[abandoned]"),
        ("is:compacted is:subagent", "is[compacted] & is[subagent]"),
        // Text that only looks like a field.
        ("std::fs http://x foo:bar", "words[std::fs] & words[http://x] & words[foo:bar]"),
        ("error::Error file:///tmp", "words[error::Error] & words[file:///tmp]"),
        (r#""role:user""#, "words[role:user]"),
        ("x:role:user :role", "words[x:role:user] & words[:role]"),
    ];
    for (text, expected) in cases {
        assert_eq!(drawn(text), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_said_with_a_way_out() {
    let cases = [
        "",
        "  ",
        "\"\"",
        "a \"  \"",
        "-a",
        "-a OR -b",
        "OR a",
        "a OR",
        "a | OR b",
        "|",
        "role:usr",
        "role:",
        "role:tols",
        "error:",
        "error:E0308",
        "is:",
        "is:activ",
        "is:gone",
        "a since:soon",
        "until:\"\"",
        "project:\"  \"",
        "a /(b/",
        "tool: Bash",
    ];
    let told: Vec<String> = cases
        .iter()
        .map(|text| {
            let bad = parse(text).expect_err(text);
            format!("{text:?}\n  [{}] {}\n  {}", &text[bad.at.clone()], bad.what, bad.hint)
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    ""
      [] there is nothing to look for
      type some words, or what they stand in: role:user, tool:Bash, since:7d
    "  "
      [  ] there is nothing to look for
      type some words, or what they stand in: role:user, tool:Bash, since:7d
    "\"\""
      [""] there are no words here
      between quotes stands what to look for; a quote itself is written twice: """"
    "a \"  \""
      ["  "] there are no words here
      between quotes stands what to look for; a quote itself is written twice: """"
    "-a"
      [-a] the query only says what not to find
      add what to look for, such as a word, tool:Bash or since:7d
    "-a OR -b"
      [-a OR -b] the query only says what not to find
      add what to look for, such as a word, tool:Bash or since:7d
    "OR a"
      [OR] nothing stands before `OR`
      it stands between two words, as in `a OR b`; in quotes, "OR", it is a word
    "a OR"
      [OR] nothing stands behind `OR`
      it stands between two words, as in `a OR b`; in quotes, "OR", it is a word
    "a | OR b"
      [OR] nothing stands before `OR`
      it stands between two words, as in `a OR b`; in quotes, "OR", it is a word
    "|"
      [|] nothing stands before `|`
      it stands between two words, as in `a | b`; in quotes, "|", it is a word
    "role:usr"
      [role:usr] `role:` does not take `usr`
      did you mean `role:user`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    "role:"
      [role:] `role:` has no value
      it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result; in quotes, "role:", it is looked for as it is
    "role:tols"
      [role:tols] `role:` does not take `tols`
      did you mean `role:tool`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    "error:"
      [error:] `error:` has no value
      it takes yes or no; in quotes, "error:", it is looked for as it is
    "error:E0308"
      [error:E0308] `error:` does not take `E0308`
      it takes yes or no; in quotes, "error:E0308", it is looked for as it is
    "is:"
      [is:] `is:` has no value
      it takes active, abandoned, compacted or subagent; in quotes, "is:", it is looked for as it is
    "is:activ"
      [is:activ] `is:` does not take `activ`
      did you mean `is:active`? it takes active, abandoned, compacted or subagent
    "is:gone"
      [is:gone] `is:` does not take `gone`
      it takes active, abandoned, compacted or subagent; in quotes, "is:gone", it is looked for as it is
    "a since:soon"
      [since:soon] `since:` does not take `soon`
      it takes 7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339; in quotes, "since:soon", it is looked for as it is
    "until:\"\""
      [until:""] `until:` has no value
      it takes 7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339; in quotes, "until:", it is looked for as it is
    "project:\"  \""
      [project:"  "] `project:` has no value
      it takes a part of a folder's path, such as work/shop; in quotes, "project:", it is looked for as it is
    "a /(b/"
      [/(b/] `/(b/` is no regular expression: found open group without closing ')'
      between slashes stands a pattern; in quotes it is looked for as it is
    "tool: Bash"
      [tool:] `tool:` has no value
      it takes the name of a tool, such as Bash; in quotes, "tool:", it is looked for as it is
    "#);
}

#[test]
fn a_query_that_nobody_typed_is_refused() {
    let bad = parse(&"word ".repeat(5000)).expect_err("too long");
    assert_snapshot!(bad.what, @"the query is longer than 10000 bytes");
}

/// Lines made of pieces of the language, and any others.
fn typed() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "Ü", "漢", " ", "  ", "\t", "\n", "\"", "“", "”", "„", "-", "--", "OR", " OR ", "|", "/", "\\",
        ".", "*", "(", "[", ":", "::", "//", "role:", "user", "tool:", "file:", "project:", "error:", "yes",
        "is:", "active", "since:", "7d", "x", "\u{0}", "\u{301}", "\u{200b}",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat()), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_line_is_read_or_refused_with_reason(text in typed()) {
        match parse(&text) {
            Ok(query) => {
                prop_assert!(!query.clauses.is_empty());
                prop_assert!(query.clauses.iter().all(|group| !group.is_empty()));
                prop_assert!(query.clauses.iter().flatten().any(|atom| !atom.not));
            }
            Err(bad) => {
                prop_assert!(text.get(bad.at.clone()).is_some(), "{:?} is no part of the query", bad.at);
                prop_assert!(!bad.what.is_empty() && !bad.hint.is_empty());
            }
        }
    }

    #[test]
    fn a_query_reads_back_as_it_was_written(text in typed()) {
        let Ok(query) = parse(&text) else { return Ok(()) };
        let written = query.to_string();
        let again = parse(&written).map_err(|bad| TestCaseError::fail(format!("{written:?}: {bad:?}")))?;
        let atoms = |query: &Query| query.clauses.iter().map(|g| g.iter().map(dump).collect()).collect::<Vec<Vec<_>>>();
        prop_assert_eq!(atoms(&again), atoms(&query), "{:?}", written);
    }

    #[test]
    fn anything_can_be_looked_for_in_quotes(words in any::<String>()) {
        let typed = format!("\"{}\"", words.chars().map(|c| if "\"“”„".contains(c) { format!("{c}{c}") } else { c.to_string() }).collect::<String>());
        match parse(&typed) {
            Ok(query) => match &query.clauses[..] {
                [group] => match &group[..] {
                    [Literal { not: false, want: Predicate::Words(needle) }] => prop_assert_eq!(needle.words(), Some(&*words)),
                    other => prop_assert!(false, "{:?}", other),
                },
                other => prop_assert!(false, "{:?}", other),
            },
            Err(_) => prop_assert!(words.chars().all(|c| c.is_whitespace() || c.is_control())),
        }
    }
}
