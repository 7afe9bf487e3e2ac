//! Sessions and turns to take along, asked of the server.

use crate::client::Site;
use crate::store::{POISON, Session, small};

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
