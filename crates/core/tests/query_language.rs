//! The query language: parsing, errors, and round trips.

use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::query::{Literal, Predicate, Query, QueryError, TextSource};

/// Parses two names of times, and the format that queries are written in.
fn parse_time(text: &str) -> Option<Timestamp> {
    match text {
        "7d" => Some(Timestamp(1_700_000_000_000)),
        "1970-01-01" => Some(Timestamp(0)),
        text => text.parse::<jiff::Timestamp>().ok().map(|stamp| Timestamp(stamp.as_millisecond())),
    }
}

fn parse(text: &str) -> Result<Query, QueryError> {
    Query::parse_with_times(text, &parse_time)
}

fn format_literal(literal: &Literal) -> String {
    let predicate = match &literal.predicate {
        Predicate::Text(needle) => {
            format!("text[{}]", needle.literal().expect("text needles have a literal").escape_debug())
        }
        Predicate::Pattern(needle) => {
            assert!(needle.literal().is_none());
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
        Predicate::PullRequest(value) => format!("pr[{value}]"),
        Predicate::Error(yes) => format!("error[{yes}]"),
        Predicate::Since(time) => format!("since[{}]", time.0),
        Predicate::Until(time) => format!("until[{}]", time.0),
        Predicate::Status(status) => format!("is[{}]", status.name()),
    };
    format!("{}{predicate}", if literal.negated { "not " } else { "" })
}

/// Formats a query: clauses joined by `&`, their literals by `or`.
fn format_query(text: &str) -> String {
    let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let format_clause =
        |clause: &Vec<Literal>| clause.iter().map(format_literal).collect::<Vec<_>>().join(" or ");
    query.clauses.iter().map(format_clause).collect::<Vec<_>>().join(" & ")
}

#[test]
fn queries_parse_to_predicates() {
    let cases = [
        ("docker", "text[docker]"),
        ("  a \t b\n", "text[a] & text[b]"),
        ("a\u{3000}b", "text[a] & text[b]"),
        ("Docker ÜBER", "text[Docker] & text[ÜBER]"),
        // Phrases.
        (r#""exact phrase""#, "text[exact phrase]"),
        ("“exact phrase” x", "text[exact phrase] & text[x]"),
        ("„exact phrase“ ”y”", "text[exact phrase] & text[y]"),
        (r#""never closed OR -x"#, "text[never closed OR -x]"),
        (r#""say ""hi"" now""#, r#"text[say \"hi\" now]"#),
        (r#"""""#, r#"text[\"]"#),
        (r#""a"b"#, "text[a] & text[b]"),
        (r#"println!("hello there")"#, r#"text[println!(\"hello] & text[there\")]"#),
        (r#""C:\dir\" x"#, r"text[C:\\dir\\] & text[x]"),
        (r#"" a ""#, "text[ a ]"),
        // Negations.
        ("a -b", "text[a] & not text[b]"),
        (r#"a -"b c" -tool:Bash -/d+/"#, "text[a] & not text[b c] & not tool[Bash] & not pattern[d+]"),
        ("-", "text[-]"),
        ("- a", "text[-] & text[a]"),
        ("--flag ---", "text[--flag] & text[---]"),
        (r#"a -"-b""#, "text[a] & not text[-b]"),
        ("well-known", "text[well-known]"),
        // Alternatives.
        ("a b OR c -d", "text[a] & text[b] or text[c] & not text[d]"),
        ("a OR b OR c", "text[a] or text[b] or text[c]"),
        ("a | b", "text[a] or text[b]"),
        ("a OR -b", "text[a] or not text[b]"),
        ("a b a OR c b a OR a a -b -b", "text[a] & text[b] & text[a] or text[c] & not text[b]"),
        ("a or b", "text[a] & text[or] & text[b]"),
        ("ls|grep a||b || ORDER", "text[ls|grep] & text[a||b] & text[||] & text[ORDER]"),
        (r#"a "OR" b "|""#, "text[a] & text[OR] & text[b] & text[|]"),
        ("role:user OR tool:Read x", "role[prompt] or tool[Read] & text[x]"),
        // Patterns and paths.
        ("/a.b/", "pattern[a.b]"),
        (r"/error: .* failed/ x", "pattern[error: .* failed] & text[x]"),
        (r"/a\/ b/", r"pattern[a\/ b]"),
        ("/https?://x/", "pattern[https?://x]"),
        ("/(?i)tmp/", "pattern[(?i)tmp]"),
        ("/usr/bin", "text[/usr/bin]"),
        ("/tmp/ /etc/conf.d/", "text[/tmp/] & text[/etc/conf.d/]"),
        ("/compact src/", "text[/compact] & text[src/]"),
        ("/usr/*.c and src/", "text[/usr/*.c] & text[and] & text[src/]"),
        (r#""/a.b/""#, "text[/a.b/]"),
        ("/ // /// /a+", "text[/] & text[//] & text[///] & text[/a+]"),
        ("cd / a+ b/", "text[cd] & text[/] & text[a+] & text[b/]"),
        ("a/b+c/", "text[a/b+c/]"),
        // Fields.
        ("role:user ROLE:Assistant", "role[prompt] & role[answer]"),
        ("role:tool role:result", "role[tool result] & role[result]"),
        ("role:context role:summary", "role[context] & role[summary]"),
        ("tool:Bash tool:mcp__x", "tool[Bash] & tool[mcp__x]"),
        ("file:src/main.rs file:/etc", "file[src/main.rs] & file[/etc]"),
        (r#"project:"my dir" x"#, "project[my dir] & text[x]"),
        ("project:“my dir”", "project[my dir]"),
        (r#"x -project:"my "#, "text[x] & not project[my]"),
        ("pr:123 -pr:ann/garden#7", "pr[123] & not pr[ann/garden#7]"),
        ("pr:https://x/pull/7", "pr[https://x/pull/7]"),
        ("model:opus branch:feat/x session:3f2a", "model[opus] & branch[feat/x] & session[3f2a]"),
        ("error:yes error:No", "error[true] & error[false]"),
        ("since:7d until:1970-01-01", "since[1700000000000] & until[0]"),
        ("is:active is:Abandoned", "is[active] & is[abandoned]"),
        ("is:compacted is:subagent", "is[compacted] & is[subagent]"),
        // Text that only resembles a field.
        ("std::fs http://x foo:bar", "text[std::fs] & text[http://x] & text[foo:bar]"),
        ("error::Error file:///tmp", "text[error::Error] & text[file:///tmp]"),
        (r#""role:user""#, "text[role:user]"),
        ("x:role:user :role", "text[x:role:user] & text[:role]"),
    ];
    for (text, expected) in cases {
        assert_eq!(format_query(text), expected, "{text}");
        let written = parse(text).expect("a query").to_string();
        assert_eq!(format_query(&written), expected, "{text} written as {written}");
    }
}

#[test]
fn times_are_utc_by_default() {
    let format = |text: &str| Query::parse(text).expect("a query").to_string();
    assert_eq!(format("since:2026-01-31"), "since:2026-01-31T00:00:00.000Z");
    assert_eq!(format("until:2026-01-31T12:30:00+01:00"), "until:2026-01-31T11:30:00.000Z");
    assert!(Query::parse("since:7d").is_err());
}

#[test]
fn invalid_queries_report_a_hint() {
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
    let messages: Vec<String> = cases
        .iter()
        .map(|text| {
            let error = parse(text).expect_err(text);
            format!("{text:?}\n  [{}] {}\n  {}", &text[error.span.clone()], error.message, error.hint)
        })
        .collect();
    assert_snapshot!(messages.join("\n"), @r#"
    ""
      [] the query is empty
      type some words or a filter, such as role:user, tool:Bash, since:7d
    "  "
      [  ] the query is empty
      type some words or a filter, such as role:user, tool:Bash, since:7d
    "\"\""
      [""] the text is empty
      put text between the quotes; a quote itself is written twice: """"
    "a \"  \""
      ["  "] the text is empty
      put text between the quotes; a quote itself is written twice: """"
    "-a"
      [-a] the query only excludes
      add something to find, such as a word, tool:Bash or since:7d
    "-a OR -b"
      [-a OR -b] the query only excludes
      add something to find, such as a word, tool:Bash or since:7d
    "OR a"
      [OR] nothing before `OR`
      it joins two terms, as in `a OR b`; quote it to search for the word: "OR"
    "a OR"
      [OR] nothing after `OR`
      it joins two terms, as in `a OR b`; quote it to search for the word: "OR"
    "a | OR b"
      [OR] nothing before `OR`
      it joins two terms, as in `a OR b`; quote it to search for the word: "OR"
    "|"
      [|] nothing before `|`
      it joins two terms, as in `a | b`; quote it to search for the word: "|"
    "role:usr"
      [role:usr] `role:` does not take `usr`
      did you mean `role:user`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    "role:"
      [role:] `role:` has no value
      it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result; quote it to search for the text: "role:"
    "role:tols"
      [role:tols] `role:` does not take `tols`
      did you mean `role:tool`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    "error:"
      [error:] `error:` has no value
      it takes yes or no; quote it to search for the text: "error:"
    "error:E0308"
      [error:E0308] `error:` does not take `E0308`
      it takes yes or no; quote it to search for the text: "error:E0308"
    "is:"
      [is:] `is:` has no value
      it takes active, abandoned, compacted or subagent; quote it to search for the text: "is:"
    "is:activ"
      [is:activ] `is:` does not take `activ`
      did you mean `is:active`? it takes active, abandoned, compacted or subagent
    "is:gone"
      [is:gone] `is:` does not take `gone`
      it takes active, abandoned, compacted or subagent; quote it to search for the text: "is:gone"
    "a since:soon"
      [since:soon] `since:` does not take `soon`
      it takes 7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339; quote it to search for the text: "since:soon"
    "until:\"\""
      [until:""] `until:` has no value
      it takes 7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339; quote it to search for the text: "until:"
    "project:\"  \""
      [project:"  "] `project:` has no value
      it takes a part of a folder's path, such as work/shop; quote it to search for the text: "project:"
    "a /(b/"
      [/(b/] `/(b/` is not a regular expression: unclosed group
      slashes enclose a pattern; quote the text to search for it literally
    "tool: Bash"
      [tool:] `tool:` has no value
      it takes the name of a tool, such as Bash; quote it to search for the text: "tool:"
    "#);
}

#[test]
fn too_long_queries_are_rejected() {
    let error = parse(&"word ".repeat(5000)).expect_err("too long");
    assert_snapshot!(error.message, @"the query is longer than 10000 bytes");
}

/// Generates lines of language elements, and arbitrary lines.
fn query_text() -> impl Strategy<Value = String> {
    let element = prop::sample::select(vec![
        "a", "Ü", "漢", " ", "  ", "\t", "\n", "\"", "“", "”", "„", "-", "--", "OR", " OR ", "|", "/", "\\",
        ".", "*", "(", "[", ":", "::", "//", "role:", "user", "tool:", "file:", "project:", "error:", "yes",
        "is:", "active", "since:", "7d", "x", "\u{0}", "\u{301}", "\u{200b}",
    ]);
    prop_oneof![prop::collection::vec(element, 0..16).prop_map(|elements| elements.concat()), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_line_parses_or_reports_an_error(text in query_text()) {
        match parse(&text) {
            Ok(query) => {
                prop_assert!(!query.clauses.is_empty());
                prop_assert!(query.clauses.iter().all(|clause| !clause.is_empty()));
                prop_assert!(query.clauses.iter().flatten().any(|literal| !literal.negated));
            }
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some(), "{:?} is no part of the query", error.span);
                prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
            }
        }
    }

    #[test]
    fn written_queries_parse_back(text in query_text()) {
        let Ok(query) = parse(&text) else { return Ok(()) };
        let written = query.to_string();
        let again = parse(&written).map_err(|error| TestCaseError::fail(format!("{written:?}: {error:?}")))?;
        let literals = |query: &Query| query.clauses.iter().map(|clause| clause.iter().map(format_literal).collect()).collect::<Vec<Vec<_>>>();
        prop_assert_eq!(literals(&again), literals(&query), "{:?}", written);
    }

    #[test]
    fn any_text_can_be_quoted(words in any::<String>()) {
        let typed = format!("\"{}\"", words.chars().map(|c| if "\"“”„".contains(c) { format!("{c}{c}") } else { c.to_string() }).collect::<String>());
        match parse(&typed) {
            Ok(query) => match &query.clauses[..] {
                [clause] => match &clause[..] {
                    [Literal { negated: false, predicate: Predicate::Text(needle) }] => prop_assert_eq!(needle.literal(), Some(&*words)),
                    other => prop_assert!(false, "{:?}", other),
                },
                other => prop_assert!(false, "{:?}", other),
            },
            Err(_) => prop_assert!(words.chars().all(|c| c.is_whitespace() || c.is_control())),
        }
    }
}
