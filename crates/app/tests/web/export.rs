//! Exports of sessions and copies of turns over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use rethread_testkit::web_server::WebServer;

use crate::fixtures::{HOSTILE_TEXT, SessionFixture, new_three_session_home};
use crate::new_home;

#[test]
fn downloads_equal_the_output_of_the_export_command() {
    let server = WebServer::start(new_three_session_home());
    let key = SessionFixture::default().key();
    for (format, extension) in [("html", "html"), ("md", "md"), ("json", "jsonl"), ("text", "txt")] {
        let response = server.get(&format!("/s/{key}/export?format={format}&detail=prompts&view=all"));
        assert_eq!(response.status, 200);
        let name = format!("attachment; filename=\"fix-the-kraken-11111111.{extension}\"");
        assert_eq!(response.header("content-disposition"), Some(name.as_str()));
        let args = ["export", &key, "--format", format, "--detail", "prompts", "--all"];
        assert_eq!(response.body, server.home().run(&args).out, "{format}");
    }
    assert_eq!(server.get(&format!("/s/{key}/export?tip=t1")).status, 200);
    for query in ["format=pdf", "detail=some", "tip=t99"] {
        assert_eq!(server.get(&format!("/s/{key}/export?{query}")).status, 404, "{query}");
    }
}

#[test]
fn texts_that_no_user_typed_can_be_left_out_of_an_export() {
    let home = new_home();
    let prompts = &["sound the depth", "<local-command-stdout>nine fathoms</local-command-stdout>"];
    let session = SessionFixture { prompts, ..SessionFixture::default() };
    session.write(&home);
    let server = WebServer::start(home);
    let key = session.key();
    let page = server.get_body(&format!("/s/{key}?view=all"));
    let form = page.split("<form class=\"export-form\"").nth(1).and_then(|form| form.split("</form>").next());
    let form = form.expect("the page has a form for exports");
    for part in [
        &format!("action=\"/s/{key}/export\""),
        "name=\"view\" value=\"all\"",
        "name=\"texts\" value=\"typed\"",
        "name=\"format\" value=\"html\"",
    ] {
        assert!(form.contains(part), "{part} is not in {form}");
    }
    for format in ["html", "md", "text", "json"] {
        let export =
            |query: &str| server.get_body(&format!("/s/{key}/export?view=all&format={format}{query}"));
        // Markdown and text never contain the output of a local command.
        assert_eq!(export("").contains("nine fathoms"), matches!(format, "html" | "json"), "{format}");
        let args = ["export", &key, "--format", format, "--all", "--only-typed"];
        assert_eq!(export("&texts=typed"), server.home().run(&args).out, "{format}");
        assert!(!export("&texts=typed").contains("nine fathoms"), "{format}");
    }
    assert_eq!(server.get(&format!("/s/{key}/export?texts=none")).status, 404);
}

#[test]
fn turns_are_copied_as_markdown_text_or_json() {
    let home = new_three_session_home();
    let hostile = SessionFixture { id: "0009", prompts: &[HOSTILE_TEXT], ..SessionFixture::default() };
    hostile.write(&home);
    let server = WebServer::start(home);
    let copy = |key: &str, format: &str| server.get_body(&format!("/s/{key}/copy?turn=1&as={format}"));
    let key = SessionFixture::default().key();
    assert!(
        copy(&key, "md").starts_with(
            "## Turn 1\n\n*2026-01-01 10:00:00*\n\n> **You**\n>\n> fix the kraken\n\nan answer\n"
        )
    );
    assert!(copy(&key, "text").contains("\n> fix the kraken\n\n  an answer\n"));
    assert!(copy(&key, "json").starts_with("{\"type\":\"user\""));
    for format in ["md", "text"] {
        let text = copy(&hostile.key(), format);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\0']), "{text:?}");
        assert!(format == "text" || !text.contains("<script"), "{text}");
    }
}

/// Requests `path` 12 times without reading the responses, and waits until the first one has started.
fn start_downloads(server: &WebServer, path: &str) -> Vec<TcpStream> {
    let request = server.build_request(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut downloads: Vec<TcpStream> = (0..12)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    downloads[0].read_exact(&mut [0; 64]).unwrap();
    downloads
}

/// Reads downloads to their end. Returns how many are complete and have at least `min_len` bytes.
fn count_complete(downloads: Vec<TcpStream>, min_len: usize) -> usize {
    let is_complete = |mut stream: TcpStream| {
        let mut rest = Vec::new();
        // The server resets a connection that it has aborted.
        stream.read_to_end(&mut rest).is_ok() && rest.len() > min_len && rest.ends_with(b"0\r\n\r\n")
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            downloads.into_iter().map(|stream| scope.spawn(|| is_complete(stream))).collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).filter(|is_complete| *is_complete).count()
    })
}

/// A client that requests a large file and does not read it must not block other requests. If it did, they would wait until
/// the server aborts the stalled downloads, which would then be incomplete.
#[test]
fn stalled_downloads_do_not_block_other_requests() {
    // On a busy machine, other requests can take so long that stalled downloads are aborted meanwhile.
    const MAX_ATTEMPTS: usize = 5;
    // More than the buffers of a connection hold.
    const PROMPTS: usize = 60;
    let home = new_three_session_home();
    let long = "word after word ".repeat(8_000);
    let large =
        SessionFixture { id: "0009", prompts: &[long.as_str(); PROMPTS], ..SessionFixture::default() };
    large.write(&home);
    let server = WebServer::start(home);
    let get_pages = || {
        for target in ["/", "/sessions?all=1", &format!("/s/{}", SessionFixture::default().key())] {
            assert_eq!(server.get(target).status, 200, "{target}");
        }
    };
    // Fill the caches.
    get_pages();
    let path = format!("/s/{}/export?format=json&view=all", large.key());
    let complete_counts = (0..MAX_ATTEMPTS).map(|_| {
        let downloads = start_downloads(&server, &path);
        get_pages();
        count_complete(downloads, long.len() * PROMPTS)
    });
    let complete_counts: Vec<usize> = complete_counts.take_while(|count| *count < 12).collect();
    assert!(
        complete_counts.len() < MAX_ATTEMPTS,
        "complete downloads per attempt: {complete_counts:?} of 12"
    );
}

#[test]
fn secrets_are_replaced_in_downloads_unless_they_are_kept() {
    let secret = rethread_testkit::secrets::expand_template(
        "groq-key",
        "gsk_<52w>",
        &mut rethread_testkit::secrets::SecretRng::new(9),
    );
    let home = new_three_session_home();
    let prompt = format!("use {}", secret.text);
    let fixture = SessionFixture { id: "0009", prompts: &[&prompt], ..SessionFixture::default() };
    fixture.write(&home);
    let server = WebServer::start(home);
    let export = |query: &str| server.get(&format!("/s/{}/export?{query}", fixture.key()));
    for query in ["format=html", "format=md", "format=text", "format=json&secrets=redact"] {
        let response = export(query);
        assert_eq!(response.status, 200, "{query}");
        assert!(!response.body.contains(&secret.text) && response.body.contains("[groq-key-1]"), "{query}");
    }
    assert!(export("format=html&secrets=keep").body.contains(&secret.text));
    assert!(export("format=json&secrets=keep").body.contains(&secret.text));
    let refused = export("format=json");
    assert_eq!(refused.status, 404);
    assert!(refused.body.contains("it contains secrets (groq-key)") && !refused.body.contains(&secret.text));
    assert_eq!(export("secrets=maybe").status, 404);
    let preview = server.get(&format!("/s/{}/export/preview", fixture.key()));
    assert_eq!(preview.status, 200);
    assert!(
        preview.body.contains("use [groq-key-1]") && !preview.body.contains(&secret.text),
        "{}",
        preview.body
    );
    assert_eq!(server.get("/s/none/export/preview").status, 404);
    assert!(server.get(&format!("/s/{}", fixture.key())).body.contains("/export/preview"));
}
