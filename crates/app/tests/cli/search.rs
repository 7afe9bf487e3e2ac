//! `search` and `index`: what is said of a hit, how to get to it, and what is said where there is none.

use super::home::{Home, object};
use serde_json::Value;

fn search(home: &Home, args: &[&str]) -> super::home::Run {
    let args: Vec<&str> = ["--demo", "search"].iter().chain(args).copied().collect();
    home.run(&args)
}

#[test]
fn a_hit_says_where_it_stands_and_whether_it_is_remembered() {
    let home = Home::new();
    let run = search(&home, &["dictionary"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(run.out, @"
    1  harbour names                             tide-tables · 2d · t2 · prompt · lost: another branch
       Yes, as in a dictionary
    ");
    insta::assert_snapshot!(run.err, @"1 hit in 1 session · --open N reads one, --resume N goes on with it");
    let labels = |words: &[&str]| {
        let run = search(&home, words);
        let heads =
            run.out.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
        heads.map(|head| head.rsplit(" · ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels(&["is:active", "role:user", "harbours"]), ["remembered"]);
    assert_eq!(labels(&["is:abandoned", "dictionary", "-n", "1"]), ["lost: another branch"]);
    assert_eq!(labels(&["is:compacted", "ligatures", "-n", "1"]), ["lost: before a compaction"]);
    assert!(labels(&["is:subagent", "-n", "1"])[0].starts_with("subagent "));
}

#[test]
fn a_query_comes_as_the_shell_hands_it_over() {
    let home = Home::new();
    let found = |args: &[&str]| search(&home, args).code == 0;
    assert!(found(&["in a dictionary"]));
    assert!(found(&["as in a dictionary", "session:b27e"]));
    assert!(
        !found(&["a in as dictionary", "session:b27e"]),
        "of several arguments one with spaces is a phrase"
    );
    assert!(found(&["a in as dictionary session:b27e"]));
    assert!(found(&["dictionary", "-zebra"]));
    assert!(!found(&["dictionary", "-yes"]));
    assert!(found(&["dictionary", "--limit", "1", "-zebra"]), "options may stand between words");
    assert!(!found(&["--", "--no-such-flag"]));
    let run = search(&home, &["dictionary", "--limt", "3"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("'--limit'") && run.err.contains("use '-- --limt'"), "{}", run.err);
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    let home = Home::new();
    let run = search(&home, &["tides role:usr"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    insta::assert_snapshot!(run.err, @"
    error: `role:` does not take `usr`
      tides role:usr
            ^^^^^^^^
    hint: did you mean `role:user`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    ");
    for query in ["", "-word", "OR a", "/(/", "since:soon", "is:gone", "error:"] {
        assert_eq!(search(&home, &[query]).code, 2, "{query}");
    }
}

#[test]
fn where_nothing_is_found_it_says_what_to_try() {
    let home = Home::new();
    let told = |args: &[&str]| {
        let run = search(&home, args);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{args:?}");
        run.err
    };
    let told = [
        told(&["dictionary", "zebra"]),
        told(&["dictionary", "quince"]),
        told(&["roel:user", "--all"]),
        told(&["/zebras?/"]),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    nothing holds `dictionary zebra`
    hint: `zebra` alone is not found either
    hint: --all also looks at attachments, progress and lines of unknown types

    nothing holds `dictionary quince`
    hint: each part is found, but never all in one entry; try fewer, or OR between them
    hint: --all also looks at attachments, progress and lines of unknown types

    nothing holds `roel:user`
    hint: `roel:user` was looked for as text; did you mean `role:`?

    nothing holds `/zebras?/`
    hint: `/zebras?/` is a regular expression and minds case; in quotes it is text
    hint: --all also looks at attachments, progress and lines of unknown types
    ");
    let empty = home.run(&["search", "word"]);
    assert_eq!(empty.code, 1);
    assert!(empty.err.starts_with("no session found in `"), "{}", empty.err);
}

#[test]
fn a_hit_leads_to_its_session() {
    let home = Home::new();
    let run = search(&home, &["dictionary", "role:user", "--open", "1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("harbour names\n"), "{}", run.out);
    assert!(
        run.out.contains("Yes, as in a dictionary") && !run.out.contains("sorted by code"),
        "{}",
        run.out
    );

    let run = search(&home, &["dictionary", "role:user", "--resume", "1"]);
    assert!(run.out.starts_with("cd ") && run.out.contains(" && claude --resume b27e94d0-"), "{}", run.out);
    assert!(
        run.err.starts_with("note: it stands on another branch: Claude will not see it\n"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("`rethread goto b27e94d0-") && run.err.contains("`rethread fork "),
        "{}",
        run.err
    );
    assert_eq!(search(&home, &["is:active", "harbours", "--resume", "1"]).err, "");

    let run = search(&home, &["dictionary", "--open", "99"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.err, "error: there is no hit 99\nhint: there is 1 hit\n");
    assert_eq!(search(&home, &["zebra", "--open", "1"]).code, 1);
}

#[test]
fn what_belongs_to_a_session_leads_to_it_or_says_that_it_is_gone() {
    let home = Home::new();
    let run = search(&home, &["is:subagent", "--resume", "1"]);
    assert!(run.out.contains(" && claude --resume 5f0c2a1e-"), "{}", run.out);
    assert!(run.err.starts_with("note: a subagent said it"), "{}", run.err);
    let run = search(&home, &["is:subagent", "--resume", "1", "--json"]);
    assert!(run.out.contains("\"remembered\":false"), "{}", run.out);

    let id = "11111111-2222-4333-8444-555555555555";
    let file = home.write(&format!(".claude/projects/-x/{id}/tool-results/big.txt"), "a rusty nail\n");
    let run = home.run(&["search", "nail"]);
    assert!(
        run.out.starts_with("1  (its session is gone)") && run.out.contains("result file"),
        "{}",
        run.out
    );
    for how in ["--open", "--resume"] {
        let run = home.run(&["search", "nail", how, "1"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
        let path = file.display();
        let expected =
            format!("error: the session of this hit is gone\nhint: what is left of it is in `{path}`\n");
        assert_eq!(run.err, expected);
    }
}

#[test]
fn sessions_are_counted_and_limits_are_said() {
    let home = Home::new();
    let run = search(&home, &["sort", "-l"]);
    insta::assert_snapshot!(run.out, @"
    id        hits  newest  project      title
    b27e94d0     6      2d  tide-tables  harbour names
    ");
    assert!(run.err.starts_with(char::is_numeric) && run.err.contains(" hits in "), "{}", run.err);
    let run = search(&home, &["the", "--limit", "2"]);
    assert!(run.err.starts_with("2 of "), "{}", run.err);
    assert!(run.err.contains(" hits · --limit 0 shows all"), "{}", run.err);
    let all = search(&home, &["the", "--limit", "0", "--json"]).out;
    let total: Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    assert_eq!(total["type"], "search_total");
    assert_eq!(total["shown"], total["hits"]);
    assert_eq!(total["hits"].as_u64().unwrap() as usize, all.lines().count() - 1);
    let sessions = object(&home, &["--demo", "search", "the", "-l", "-n", "0", "--json"]);
    assert_eq!(sessions["sessions"], total["sessions"]);
    assert_eq!(sessions["hits"], total["hits"]);
}

#[test]
fn words_are_marked_and_lines_fit_the_screen() {
    let home = Home::new();
    let run = search(&home, &["collation", "table", "--color", "always"]);
    for word in ["collation", "table"] {
        assert!(run.out.contains(&format!("\u{1b}[1m\u{1b}[7m{word}\u{1b}[0m")), "{:?}", run.out);
    }
    for width in ["40", "60", "80", "120", "200"] {
        for more in [&[][..], &["--context", "2"], &["-l"]] {
            let args: Vec<&str> =
                ["--demo", "search", "the", "-n", "0"].iter().chain(more).copied().collect();
            let output = home.command(&args).env("COLUMNS", width).output().unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            let widest = out.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "at {width}, {more:?}:\n{out}");
        }
    }
}

#[test]
fn the_index_is_made_told_and_thrown_away() {
    let home = Home::new();
    let line = r#"{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","cwd":"/x/y","message":{"role":"user","content":"hello there"},"timestamp":"2026-01-01T10:00:00.000Z"}"#;
    home.write_old(".claude/projects/-x-y/s1.jsonl", format!("{line}\n"));
    let status = |args: &[&str]| {
        let args: Vec<&str> = ["index", "--json"].iter().chain(args).copied().collect();
        object(&home, &args)
    };
    let before = status(&["--status"]);
    assert_eq!((&before["files"], &before["files_found"]), (&0.into(), &1.into()));
    // A file that was written just now is read again each time: soon it is old enough.
    let made = (0..100).map(|_| status(&[])).find(|made| made["files"] == 1).expect("the file is indexed");
    assert_eq!((&made["type"], &made["entries"]), (&"index_status".into(), &1.into()));
    assert!(
        made["folder"].as_str().unwrap().starts_with(home.path().join(".cache/rethread").to_str().unwrap())
    );
    assert_eq!(status(&["--rebuild"])["files"], 1);
    assert_eq!(home.run(&["search", "hello"]).code, 0);
    assert_eq!(object(&home, &["search", "hello", "--json"])["bytes_read"], 0);
    assert_eq!(home.run(&["index", "--drop"]).out, "the index is gone\n");
    assert_eq!(home.run(&["index", "--drop"]).code, 1);
    assert_eq!(home.run(&["--demo", "index"]).code, 2);
    assert_eq!(home.run(&["index", "--drop", "--rebuild"]).code, 2);
}
