//! Pieces of a session: what is asked for is given, and nothing else.

use rethread_testkit::script;

use crate::client::Site;
use crate::fixtures::Session;
use crate::home::Home;

#[test]
fn a_result_kept_beside_a_session_is_read_and_nothing_beyond_it() {
    let home = Home::new();
    let session = Session::default();
    session.write(&home);
    let path = home.run(&["ls", "--json"]).out;
    let row: serde_json::Value = serde_json::from_str(path.lines().next().unwrap()).unwrap();
    let beside = row["path"].as_str().unwrap().strip_suffix(".jsonl").unwrap().to_owned();
    let beside = std::path::Path::new(&beside).strip_prefix(home.path()).unwrap().to_owned();
    home.write(&format!("{}/tool-results/b2.txt", beside.display()), "all \u{1b}[31mof\u{1b}[0m <it>\n");
    home.write(&format!("{}/secret.txt", beside.display()), "secret");
    // What leads elsewhere is not of the session, whatever it is called.
    let results = home.path().join(&beside).join("tool-results");
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join(&beside).join("secret.txt"), results.join("b4.txt")).unwrap();
    let site = Site::of(home);
    let base = format!("/s/{}/kept?name=", session.key());
    let page = site.page(&format!("{base}b2.txt"));
    assert!(page.contains("&lt;it&gt;") && !page.contains('\u{1b}'), "{page}");
    for name in [
        "../secret.txt",
        "..%2fsecret.txt",
        "%2e%2e/secret.txt",
        ".",
        "..",
        "",
        "b3.txt",
        "b4.txt",
        "b2.txt%00",
        "/etc/passwd",
        "C:x",
    ] {
        assert_eq!(site.get(&format!("{base}{name}")).status, 404, "{name}");
    }
}

/// Two long texts of one line, as long as each other.
#[test]
fn the_rest_of_long_words_is_that_of_these_words() {
    let home = Home::new();
    let text = |word: &str| format!("{word} and more\n\n").repeat(10_000);
    let blocks = ["left!", "right"].map(|word| serde_json::json!({ "type": "text", "text": text(word) }));
    let line = format!("u1: say much\n  a1: {}", blocks.map(|block| block.to_string()).join(" | "));
    let key = "aaaaaaaa-0000-4000-8000-000000000001";
    home.write_old(&format!(".claude/projects/-x/{key}.jsonl"), script::bytes(&line));
    let site = Site::of(home);
    let leaf = site.page(&format!("/s/{key}/leaf?no=0"));
    let rests: Vec<String> = leaf
        .split("data-src=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|address| site.page(&address.replace("&amp;", "&")))
        .collect();
    assert_eq!(rests.len(), 2);
    for (word, other, rest) in [("left!", "right", &rests[0]), ("right", "left!", &rests[1])] {
        let (shown, rest) =
            (leaf.matches(word).count(), rest.matches(word).count() + rest.matches(other).count() * 20_000);
        assert_eq!(shown + rest, 10_000, "every paragraph is there once");
    }
}

#[test]
fn addresses_that_are_made_up_lead_nowhere() {
    let home = Home::new();
    let session = Session::default();
    session.write(&home);
    let site = Site::of(home);
    let key = session.key();
    for target in [
        "/s/..%2f..%2fetc%2fpasswd",
        "/s/%00",
        "/s/%ff",
        "/s/%ff/leaf?no=0",
        "/s/%2e%2e",
        "/s/nobody",
        "/s/nobody/leaf?no=0",
        "/s/nobody/events",
    ] {
        assert_eq!(site.get(target).status, 404, "{target}");
    }
    for piece in [
        "leaf?no=99",
        "leaf?at=L99",
        "part?line=99&call=x",
        "picture?line=1&no=7",
        "raw?line=99",
        "agent/x",
        "agent/..%2f",
        "?tip=L99",
        "?tip=nothing",
    ] {
        let target = format!("/s/{key}/{piece}").replace("/?", "?");
        assert_eq!(site.get(&target).status, 404, "{target}");
    }
    assert_eq!(site.get(&format!("/s/{key}/leaf?no=-1")).status, 400);
    assert!(
        site.page(&format!("/s/{key}/call?call=x")).contains("no conversation of this subagent was kept")
    );
}

#[test]
fn a_subagent_inside_the_file_has_a_page_and_unfolds_in_place() {
    let home = Home::new();
    let key = Session { id: "0009", ..Session::default() }.key();
    let talk = r#"
u1: go
  a1: {"type":"tool_use","id":"toolu_t","name":"Task","input":{"description":"Look","prompt":"look closely"}}
    u2: {"type":"tool_result","tool_use_id":"toolu_t","content":"found"}
      a2: it is back
u5 side: look closely
  a5 side: !Bash ls
    u6 side: =a5 rakes
      a6 side: the agent speaks
"#;
    home.write_old(&format!(".claude/projects/-code/{key}.jsonl"), rethread_testkit::script::bytes(talk));
    let site = Site::of(home);
    let base = format!("/s/{key}/agent/L5");
    assert!(site.page(&format!("/s/{key}/agents")).contains(&format!("href=\"{base}\"")));
    assert!(!site.page(&format!("/s/{key}")).contains("the agent speaks"));
    // Any of its lines names it: that is where a search leads.
    for address in [base.clone(), format!("/s/{key}/agent/L7")] {
        let page = site.page(&address);
        assert!(page.contains("the agent speaks") && page.contains("id=\"t1\""), "{page}");
        assert!(page.contains(&format!("data-base=\"{base}\"")), "{page}");
        assert!(!page.contains("it is back") && !page.contains("branch"), "{page}");
    }
    let unfolded = site.page(&format!("/s/{key}/call?call=toolu_t"));
    assert!(unfolded.contains("the agent speaks") && unfolded.contains(&base), "{unfolded}");
    for piece in ["leaf?at=t1", "leaf?at=L7", "leaf?no=0"] {
        assert!(site.page(&format!("{base}/{piece}")).contains("the agent speaks"), "{piece}");
    }
    assert_eq!(site.get(&format!("{base}/leaf?no=1")).status, 404);
    assert_eq!(site.get(&format!("/s/{key}/agent/L1")).status, 404, "that is the session itself");
    let page = site.page(&base);
    let call = page.split("data-line=\"6\"").nth(1).expect("its call has a line");
    assert!(call.contains("rakes"), "{call}");
}

#[test]
fn the_command_that_goes_on_names_the_very_folder() {
    let home = Home::new();
    let session = Session { cwd: "/code/my  docs\u{200b}x", ..Session::default() };
    session.write(&home);
    let page = Site::of(home).page(&format!("/s/{}", session.key()));
    let command = format!(
        r#"data-text="cd $'/code/my  docs\342\200\213x' &amp;&amp; claude --resume {}""#,
        session.key()
    );
    assert!(page.contains(&command), "{page}");
}

#[test]
fn long_words_show_how_they_begin_and_the_rest_on_demand() {
    let home = Home::new();
    let words: Vec<String> = (0..400_000).map(|no| format!("word{no}")).collect();
    let prompt = words.join(" ");
    let session = Session { prompts: &[&prompt], ..Session::default() };
    session.write(&home);
    let site = Site::of(home);
    let leaf = site.page(&format!("/s/{}/leaf?no=0", session.key()));
    assert!(leaf.len() < 100_000, "{} bytes", leaf.len());
    let (_, source) = leaf.split_once("data-src=\"").expect("the rest has an address");
    let (source, _) = source.split_once('"').unwrap();
    let rest = site.page(&source.replace("&amp;", "&"));
    let shown = |page: &str| {
        let text = page.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text);
        text.flat_map(str::split_whitespace).filter(|word| word.starts_with("word")).count()
    };
    // One word may be cut in two, and then begins nowhere or twice.
    assert!(
        (shown(&leaf) + shown(&rest)).abs_diff(words.len()) <= 1,
        "{} and {}",
        shown(&leaf),
        shown(&rest)
    );
    assert_eq!(site.get(&format!("/s/{}/part?line=1&bytes=7", session.key())).status, 404);
    assert_eq!(
        site.get(&format!("/s/{}/part?line=2&bytes=9", session.key())).status,
        404,
        "short words have no rest"
    );
}
