//! A web server for a test: a few pages on a port of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// A page: path, further headers, body. A path that is not there is answered with 404, one that names a place with 303.
pub(crate) type Served = (&'static str, &'static str, String);

/// A server that lives as long as the process.
pub(crate) struct Site {
    pub(crate) origin: String,
}

impl Site {
    /// Serves pages on a free port.
    pub(crate) fn new(pages: Vec<Served>) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A browser that went away meanwhile is none of our business.
                let _ = answer(stream, &pages);
            }
        });
        Site { origin }
    }

    /// Serves one page at `/`: a good one around the given body.
    pub(crate) fn of(body: &str) -> Site {
        Site::new(vec![("/", "", good(body))])
    }

    /// Returns the address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}

/// Returns a page that lacks nothing, with the given body in its main part.
pub(crate) fn good(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <link rel=icon href='data:,'><title>Good</title><body><main><h1>Good</h1>{body}</main></body></html>"
    )
}

fn answer(mut stream: TcpStream, pages: &[Served]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let target = first.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let page = pages.iter().find(|page| page.0 == path);
    let (status, headers, body) = page.map_or(("404 Not Found", "", "nothing"), |p| (status(p.1), p.1, &p.2));
    let kind = match path.rsplit('.').next() {
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        _ => "text/html; charset=utf-8",
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    )
}

fn status(headers: &str) -> &'static str {
    if headers.contains("Location:") { "303 See Other" } else { "200 OK" }
}
