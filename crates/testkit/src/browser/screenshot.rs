//! What a page looks like: its size, its media, pictures of it, and how fast it is drawn.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use super::page::Page;

/// Reads the times of a page; what was not painted within ten seconds of asking has no time.
const TIMES: &str = "(async () => {
    const last = type => new Promise(done => {
        new PerformanceObserver(list => done(list.getEntries())).observe({ type, buffered: true });
        setTimeout(() => done([]), 10000);
    });
    const [paint, largest] = await Promise.all([last('paint'), last('largest-contentful-paint')]);
    const [gone] = performance.getEntriesByType('navigation');
    const painted = name => paint.find(entry => entry.name === name)?.startTime ?? null;
    return {
        answered: gone?.responseStart ?? null,
        parsed: gone?.domContentLoadedEventEnd ?? null,
        loaded: gone?.loadEventEnd ?? null,
        first: painted('first-paint'),
        content: painted('first-contentful-paint'),
        largest: largest.at(-1)?.startTime ?? null,
    };
})()";

/// Counts frames while a script runs, which stands at `RUN` and may wait for `frame()`.
const FRAMES: &str = "(async () => {
    let last = performance.now(), longest = 0, count = 0, going = true;
    const frame = () => new Promise(requestAnimationFrame);
    const tick = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        count += 1;
        if (going) requestAnimationFrame(tick);
    };
    await frame();
    last = performance.now();
    requestAnimationFrame(tick);
    await (async () => { RUN })();
    await frame();
    going = false;
    return { longest, count };
})()";

/// What a page is told of where it is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmulatedMedia {
    /// Whether dark colours are preferred.
    pub dark: bool,
    /// Whether things should not move.
    pub reduced_motion: bool,
    /// Whether it is shown as printed.
    pub print: bool,
}

/// How much of a page is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// What is in the window.
    Window,
    /// All of it.
    Whole,
}

/// When a page was there, in milliseconds from the start of the navigation.
#[derive(Clone, Copy, Debug)]
pub struct PaintTimes {
    /// The first byte of the answer.
    pub answered: Option<f64>,
    /// The document was parsed and its scripts had run.
    pub parsed: Option<f64>,
    /// Everything was loaded.
    pub loaded: Option<f64>,
    /// Anything was painted.
    pub first: Option<f64>,
    /// The first text or picture was painted.
    pub content: Option<f64>,
    /// The largest text or picture was painted.
    pub largest: Option<f64>,
}

/// Frames that were drawn while something happened.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// The longest time between two, in milliseconds.
    pub longest: f64,
    /// How many.
    pub count: u64,
}

impl Page {
    /// Makes the window another size, of a telephone where `mobile` is set.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32, mobile: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.call("Emulation.setTouchEmulationEnabled", &json!({ "enabled": mobile }));
    }

    /// Tells the page where it is shown.
    #[track_caller]
    pub fn emulate(&self, media: EmulatedMedia) {
        let scheme = if media.dark { "dark" } else { "light" };
        let motion = if media.reduced_motion { "reduce" } else { "no-preference" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        let medium = if media.print { "print" } else { "screen" };
        self.call("Emulation.setEmulatedMedia", &json!({ "media": medium, "features": features }));
    }

    /// Returns a picture of the page as PNG.
    #[track_caller]
    pub fn picture(&self, area: Area) -> Vec<u8> {
        let mut params = json!({ "format": "png" });
        if area == Area::Whole {
            let size = &self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"];
            params["captureBeyondViewport"] = true.into();
            params["clip"] =
                json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        }
        let shot = self.call("Page.captureScreenshot", &params);
        let data = shot["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(data).expect("the protocol sends pictures as base64")
    }

    /// Writes a picture of the page as PNG.
    #[track_caller]
    pub fn screenshot(&self, path: &Path, area: Area) {
        if let Err(failure) = std::fs::write(path, self.picture(area)) {
            panic!("`{}` could not be written: {failure}", path.display());
        }
    }

    /// Returns when the page was there and painted.
    #[track_caller]
    pub fn paint_times(&self) -> PaintTimes {
        let times = self.eval(TIMES);
        let time = |name: &str| times.get(name).and_then(Value::as_f64);
        PaintTimes {
            answered: time("answered"),
            parsed: time("parsed"),
            loaded: time("loaded"),
            first: time("first"),
            content: time("content"),
            largest: time("largest"),
        }
    }

    /// Runs statements that may wait for `frame()`, such as a scroll, and returns how evenly frames were drawn meanwhile.
    #[track_caller]
    pub fn frames_while(&self, js: &str) -> Frames {
        let frames = self.eval(&FRAMES.replace("RUN", js));
        Frames {
            longest: frames["longest"].as_f64().unwrap_or_default(),
            count: frames["count"].as_u64().unwrap_or_default(),
        }
    }
}
