//! Viewport size, emulated media, screenshots, and rendering speed.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use super::page::Page;

/// Returns the paint times of a page. A time is null if the paint did not happen within ten seconds.
const PAINT_TIMES: &str = "(async () => {
    const observe = type => new Promise(done => {
        new PerformanceObserver(list => done(list.getEntries())).observe({ type, buffered: true });
        setTimeout(() => done([]), 10000);
    });
    const [paint, largest] = await Promise.all([observe('paint'), observe('largest-contentful-paint')]);
    const [navigation] = performance.getEntriesByType('navigation');
    const paintTime = name => paint.find(entry => entry.name === name)?.startTime ?? null;
    return {
        firstByte: navigation?.responseStart ?? null,
        domContentLoaded: navigation?.domContentLoadedEventEnd ?? null,
        loaded: navigation?.loadEventEnd ?? null,
        firstPaint: paintTime('first-paint'),
        firstContentfulPaint: paintTime('first-contentful-paint'),
        largestContentfulPaint: largest.at(-1)?.startTime ?? null,
    };
})()";

/// Counts frames while a script runs. The script replaces `RUN` and may await `frame()`.
const COUNT_FRAMES: &str = "(async () => {
    let last = performance.now(), longest = 0, count = 0, running = true;
    const frame = () => new Promise(requestAnimationFrame);
    const tick = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        count += 1;
        if (running) requestAnimationFrame(tick);
    };
    await frame();
    last = performance.now();
    requestAnimationFrame(tick);
    await (async () => { RUN })();
    await frame();
    running = false;
    return { longest, count };
})()";

/// The emulated media features.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmulatedMedia {
    /// `prefers-color-scheme: dark`.
    pub dark: bool,
    /// `prefers-reduced-motion: reduce`.
    pub reduced_motion: bool,
    /// The media type `print` instead of `screen`.
    pub print: bool,
}

/// The part of a page that a screenshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenshotArea {
    /// The visible part.
    Viewport,
    /// The whole page.
    FullPage,
}

/// Loading and paint times, in milliseconds from the start of the navigation.
#[derive(Clone, Copy, Debug)]
pub struct PaintTimes {
    /// The first byte of the response arrived.
    pub first_byte: Option<f64>,
    /// The document was parsed and its scripts had run.
    pub dom_content_loaded: Option<f64>,
    /// The load event had ended.
    pub loaded: Option<f64>,
    /// The first pixel was painted.
    pub first_paint: Option<f64>,
    /// The first text or image was painted.
    pub first_contentful_paint: Option<f64>,
    /// The largest text or image was painted.
    pub largest_contentful_paint: Option<f64>,
}

/// The frames that were painted while a script ran.
#[derive(Clone, Copy, Debug)]
pub struct FrameStats {
    /// The longest time between two frames, in milliseconds.
    pub longest_gap: f64,
    /// The number of frames.
    pub count: u64,
}

impl Page {
    /// Resizes the viewport. With `mobile`, it behaves like that of a phone.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32, mobile: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.call("Emulation.setTouchEmulationEnabled", &json!({ "enabled": mobile }));
    }

    /// Emulates media features.
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

    /// Returns a screenshot as PNG.
    #[track_caller]
    pub fn screenshot(&self, area: ScreenshotArea) -> Vec<u8> {
        let mut params = json!({ "format": "png" });
        if area == ScreenshotArea::FullPage {
            let size = &self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"];
            params["captureBeyondViewport"] = true.into();
            params["clip"] =
                json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        }
        let screenshot = self.call("Page.captureScreenshot", &params);
        let data = screenshot["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD
            .decode(data)
            .expect("the protocol encodes screenshots as base64")
    }

    /// Writes a screenshot as PNG.
    #[track_caller]
    pub fn save_screenshot(&self, path: &Path, area: ScreenshotArea) {
        if let Err(error) = std::fs::write(path, self.screenshot(area)) {
            panic!("`{}` could not be written: {error}", path.display());
        }
    }

    /// Returns the loading and paint times of the page.
    #[track_caller]
    pub fn paint_times(&self) -> PaintTimes {
        let times = self.eval(PAINT_TIMES);
        let time = |name: &str| times.get(name).and_then(Value::as_f64);
        PaintTimes {
            first_byte: time("firstByte"),
            dom_content_loaded: time("domContentLoaded"),
            loaded: time("loaded"),
            first_paint: time("firstPaint"),
            first_contentful_paint: time("firstContentfulPaint"),
            largest_contentful_paint: time("largestContentfulPaint"),
        }
    }

    /// Runs statements that may await `frame()`, such as a scroll, and measures the frames meanwhile.
    #[track_caller]
    pub fn measure_frames(&self, js: &str) -> FrameStats {
        let frames = self.eval(&COUNT_FRAMES.replace("RUN", js));
        FrameStats {
            longest_gap: frames["longest"].as_f64().unwrap_or_default(),
            count: frames["count"].as_u64().unwrap_or_default(),
        }
    }
}
