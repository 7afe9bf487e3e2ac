//! Parts of a session: routes return the requested part, and nothing outside of the session.

use rethread_testkit::script;
use rethread_testkit::web_server::WebServer;

use crate::fixtures::SessionFixture;
use crate::new_home;

#[test]
fn result_files_are_served_only_from_the_folder_of_the_session() {
    let home = new_home();
    let session = SessionFixture::default();
    session.write(&home);
    let list = home.run(&["ls", "--json"]).out;
    let row: serde_json::Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let side_folder = row["path"].as_str().unwrap().strip_suffix(".jsonl").unwrap().to_owned();
    let side_folder = std::path::Path::new(&side_folder).strip_prefix(home.path()).unwrap().to_owned();
    home.write(&format!("{}/tool-results/b2.txt", side_folder.display()), "all \u{1b}[31mof\u{1b}[0m <it>\n");
    home.write(&format!("{}/secret.txt", side_folder.display()), "secret");
    // A link that leads out of the folder is not followed.
    let result_folder = home.path().join(&side_folder).join("tool-results");
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        home.path().join(&side_folder).join("secret.txt"),
        result_folder.join("b4.txt"),
    )
    .unwrap();
    let server = WebServer::start(home);
    let base = format!("/s/{}/result-file?name=", session.key());
    let page = server.get_body(&format!("{base}b2.txt"));
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
        assert_eq!(server.get(&format!("{base}{name}")).status, 404, "{name}");
    }
}

/// The two texts have the same length and are in the same line.
#[test]
fn the_remainder_of_a_long_text_belongs_to_that_text() {
    let home = new_home();
    let text = |word: &str| format!("{word} and more\n\n").repeat(10_000);
    let blocks = ["left!", "right"].map(|word| serde_json::json!({ "type": "text", "text": text(word) }));
    let session = format!("u1: say much\n  a1: {}", blocks.map(|block| block.to_string()).join(" | "));
    let key = "aaaaaaaa-0000-4000-8000-000000000001";
    home.write_old(&format!(".claude/projects/-x/{key}.jsonl"), script::bytes(&session));
    let server = WebServer::start(home);
    let chunk = server.get_body(&format!("/s/{key}/chunk?number=0"));
    let remainders: Vec<String> = chunk
        .split("data-src=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|url| server.get_body(&url.replace("&amp;", "&")))
        .collect();
    assert_eq!(remainders.len(), 2);
    for (word, other, rest) in [("left!", "right", &remainders[0]), ("right", "left!", &remainders[1])] {
        // A word of the other text makes the sum wrong.
        let rest_count = rest.matches(word).count() + rest.matches(other).count() * 20_000;
        assert_eq!(chunk.matches(word).count() + rest_count, 10_000, "every paragraph occurs once");
    }
}

#[test]
fn invalid_urls_report_not_found() {
    let home = new_home();
    let session = SessionFixture::default();
    session.write(&home);
    let server = WebServer::start(home);
    let key = session.key();
    for target in [
        "/s/..%2f..%2fetc%2fpasswd",
        "/s/%00",
        "/s/%ff",
        "/s/%ff/chunk?number=0",
        "/s/%2e%2e",
        "/s/missing",
        "/s/missing/chunk?number=0",
        "/s/missing/events",
    ] {
        assert_eq!(server.get(target).status, 404, "{target}");
    }
    for part in [
        "chunk?number=99",
        "chunk?at=L99",
        "part?line=99&call=x",
        "image?line=1&number=7",
        "raw?line=99",
        "agent/x",
        "agent/..%2f",
        "?tip=L99",
        "?tip=nothing",
    ] {
        let target = format!("/s/{key}/{part}").replace("/?", "?");
        assert_eq!(server.get(&target).status, 404, "{target}");
    }
    assert_eq!(server.get(&format!("/s/{key}/chunk?number=-1")).status, 400);
    assert!(
        server
            .get_body(&format!("/s/{key}/call?call=x"))
            .contains("no conversation of this subagent was kept")
    );
}

#[test]
fn a_subagent_inside_the_session_file_has_a_page_and_opens_in_place() {
    let home = new_home();
    let key = SessionFixture { id: "0009", ..SessionFixture::default() }.key();
    let script_text = r#"
u1: go
  a1: {"type":"tool_use","id":"toolu_t","name":"Task","input":{"description":"Look","prompt":"look closely"}}
    u2: {"type":"tool_result","tool_use_id":"toolu_t","content":"found"}
      a2: it is back
u5 side: look closely
  a5 side: !Bash ls
    u6 side: =a5 rakes
      a6 side: the agent speaks
"#;
    home.write_old(
        &format!(".claude/projects/-code/{key}.jsonl"),
        rethread_testkit::script::bytes(script_text),
    );
    let server = WebServer::start(home);
    let base = format!("/s/{key}/agent/L5");
    assert!(server.get_body(&format!("/s/{key}/agents")).contains(&format!("href=\"{base}\"")));
    assert!(!server.get_body(&format!("/s/{key}")).contains("the agent speaks"));
    // Any of its lines names it: search results link to lines.
    for url in [base.clone(), format!("/s/{key}/agent/L7")] {
        let page = server.get_body(&url);
        assert!(page.contains("the agent speaks") && page.contains("id=\"t1\""), "{page}");
        assert!(page.contains(&format!("data-base=\"{base}\"")), "{page}");
        assert!(!page.contains("it is back") && !page.contains("branch"), "{page}");
    }
    let embedded = server.get_body(&format!("/s/{key}/call?call=toolu_t"));
    assert!(embedded.contains("the agent speaks") && embedded.contains(&base), "{embedded}");
    for part in ["chunk?at=t1", "chunk?at=L7", "chunk?number=0"] {
        assert!(server.get_body(&format!("{base}/{part}")).contains("the agent speaks"), "{part}");
    }
    assert_eq!(server.get(&format!("{base}/chunk?number=1")).status, 404);
    assert_eq!(
        server.get(&format!("/s/{key}/agent/L1")).status,
        404,
        "the line belongs to the session itself"
    );
    let page = server.get_body(&base);
    let call = page.split("data-line=\"6\"").nth(1).expect("the call has a line number");
    assert!(call.contains("rakes"), "{call}");
}

#[test]
fn the_resume_command_quotes_the_folder() {
    let home = new_home();
    let session = SessionFixture { cwd: "/code/my  docs\u{200b}x", ..SessionFixture::default() };
    session.write(&home);
    let page = WebServer::start(home).get_body(&format!("/s/{}", session.key()));
    let command = format!(
        r#"data-text="cd $'/code/my  docs\342\200\213x' &amp;&amp; claude --resume {}""#,
        session.key()
    );
    assert!(page.contains(&command), "{page}");
}

#[test]
fn long_texts_are_truncated_and_the_rest_is_loaded_on_demand() {
    let home = new_home();
    let words: Vec<String> = (0..400_000).map(|idx| format!("word{idx}")).collect();
    let prompt = words.join(" ");
    let session = SessionFixture { prompts: &[&prompt], ..SessionFixture::default() };
    session.write(&home);
    let server = WebServer::start(home);
    let chunk = server.get_body(&format!("/s/{}/chunk?number=0", session.key()));
    assert!(chunk.len() < 100_000, "{} bytes", chunk.len());
    let (_, source) = chunk.split_once("data-src=\"").expect("the rest has a URL");
    let (source, _) = source.split_once('"').unwrap();
    let rest = server.get_body(&source.replace("&amp;", "&"));
    let count_words = |page: &str| {
        let text = page.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
        text.flat_map(str::split_whitespace).filter(|word| word.starts_with("word")).count()
    };
    // The cut may fall into a word, which then counts twice or not at all.
    assert!(
        (count_words(&chunk) + count_words(&rest)).abs_diff(words.len()) <= 1,
        "{} and {}",
        count_words(&chunk),
        count_words(&rest)
    );
    assert_eq!(server.get(&format!("/s/{}/part?line=1&bytes=7", session.key())).status, 404);
    assert_eq!(
        server.get(&format!("/s/{}/part?line=2&bytes=9", session.key())).status,
        404,
        "a short text has no remainder"
    );
}
