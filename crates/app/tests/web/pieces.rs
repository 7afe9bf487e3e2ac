//! Pieces of a session: what is asked for is given, and nothing else.

use crate::client::Site;
use crate::home::Home;
use crate::store::Session;

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
        "b2.txt%00",
        "/etc/passwd",
        "C:x",
    ] {
        assert_eq!(site.get(&format!("{base}{name}")).status, 404, "{name}");
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
        "call?call=x",
        "agent/x",
        "agent/..%2f",
        "?tip=L99",
        "?tip=nothing",
    ] {
        let target = format!("/s/{key}/{piece}").replace("/?", "?");
        assert_eq!(site.get(&target).status, 404, "{target}");
    }
    assert_eq!(site.get(&format!("/s/{key}/leaf?no=-1")).status, 400);
}
