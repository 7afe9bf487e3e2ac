//! Sessions and turns to take along, asked of the server.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::client::Site;
use crate::fixtures::{POISON, Session, small};

#[test]
fn a_session_is_kept_in_every_form_as_the_command_line_writes_it() {
    let site = Site::of(small());
    let key = Session::default().key();
    for (format, ending) in [("html", "html"), ("md", "md"), ("json", "jsonl"), ("text", "txt")] {
        let answer = site.get(&format!("/s/{key}/export?format={format}&detail=prompts&view=all"));
        assert_eq!(answer.status, 200);
        let name = format!("attachment; filename=\"fix-the-kraken-11111111.{ending}\"");
        assert_eq!(answer.header("content-disposition"), Some(name.as_str()));
        let args = ["export", &key, "--format", format, "--detail", "prompts", "--all"];
        assert_eq!(answer.body, site.home().run(&args).out, "{format}");
    }
    assert_eq!(site.get(&format!("/s/{key}/export?tip=t1")).status, 200);
    for bad in ["format=pdf", "detail=some", "tip=t99"] {
        assert_eq!(site.get(&format!("/s/{key}/export?{bad}")).status, 404, "{bad}");
    }
}

#[test]
fn a_turn_is_copied_as_markdown_text_or_lines() {
    let home = small();
    let poisoned = Session { id: "0009", prompts: &[POISON], ..Session::default() };
    poisoned.write(&home);
    let site = Site::of(home);
    let copy = |key: &str, form: &str| site.page(&format!("/s/{key}/copy?turn=1&as={form}"));
    let key = Session::default().key();
    assert!(
        copy(&key, "md").starts_with(
            "## Turn 1\n\n*2026-01-01 10:00:00*\n\n> **You**\n>\n> fix the kraken\n\nan answer\n"
        )
    );
    assert!(copy(&key, "text").contains("\n> fix the kraken\n\n  an answer\n"));
    assert!(copy(&key, "json").starts_with("{\"type\":\"user\""));
    for form in ["md", "text"] {
        let copied = copy(&poisoned.key(), form);
        assert!(!copied.contains(['\u{1b}', '\u{202e}', '\0']), "{copied:?}");
        assert!(form == "text" || !copied.contains("<script"), "{copied}");
    }
}

/// Whoever asks for a large file and does not take it must not keep others waiting. Were they to wait, they would do so until the
/// server gives the downloads up, and those would not be whole.
#[test]
fn downloads_that_stand_still_keep_nobody_waiting() {
    let home = small();
    let long = "word after word ".repeat(8_000);
    let large = Session { id: "0009", prompts: &[long.as_str(); 120], ..Session::default() };
    large.write(&home);
    let site = Site::of(home);
    let request = format!(
        "GET /s/{}/export?format=json&view=all HTTP/1.1\r\nHost: 127.0.0.1:{1}\r\nCookie: rethread-{1}={2}\r\nConnection: close\r\n\r\n",
        large.key(),
        site.port(),
        site.key()
    );
    let mut downloads: Vec<TcpStream> = (0..12)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", site.port())).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // The first of them has begun.
    let mut began = [0; 64];
    downloads[0].read_exact(&mut began).unwrap();
    for target in ["/", "/sessions?all=1", &format!("/s/{}", Session::default().key())] {
        assert_eq!(site.get(target).status, 200, "{target}");
    }
    let read = |mut stream: TcpStream| {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        rest.len() > long.len() * 120 && rest.ends_with(b"0\r\n\r\n")
    };
    let whole = std::thread::scope(|scope| {
        let readers: Vec<_> = downloads.into_iter().map(|stream| scope.spawn(|| read(stream))).collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).filter(|whole| *whole).count()
    });
    assert_eq!(whole, 12, "all of them come whole when they are taken");
}
