"use strict";
// What every page shares: listeners on the document, the keyboard map, small words, light and dark.
(() => {
  const keys = [];
  const rethread = {
    // Calls `handler(event, element)` for events on elements that match, also on those that come later.
    on(selector, kind, handler) {
      document.addEventListener(kind, (event) => {
        const element = event.target instanceof Element ? event.target.closest(selector) : null;
        if (element) handler(event, element);
      });
    },
    // Calls back once all elements are there.
    ready(handler) {
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", handler, { once: true });
      else handler();
    },
    // Calls back when there is nothing to draw: what asks for heights and places must not make the browser lay out twice.
    idle(handler) {
      if (window.requestIdleCallback) requestIdleCallback(handler, { timeout: 300 });
      else setTimeout(handler, 50);
    },
    // Takes a key into the map, for pages where there is an element that matches; a handler that returns false lets the key pass.
    key(key, label, handler, where = "body") {
      keys.push({ key, label, handler, where });
    },
    // Fetches a piece of a page as text.
    async get(address) {
      const answer = await fetch(address, { credentials: "same-origin", headers: { "x-rethread": "piece" } });
      if (!answer.ok) throw new Error(`${answer.status} ${address}`);
      return answer.text();
    },
    // Makes elements of markup that came from the server.
    elements(markup) {
      const template = document.createElement("template");
      template.innerHTML = markup;
      return template.content;
    },
    // Says something for a moment.
    say(text) {
      const place = document.getElementById("say");
      place.textContent = text;
      clearTimeout(rethread.saying);
      rethread.saying = setTimeout(() => { place.textContent = ""; }, 2500);
    },
    async copy(text, said) {
      try {
        await navigator.clipboard.writeText(text);
        rethread.say(said || "Copied");
      } catch {
        rethread.say("The browser did not let us copy");
      }
    },
  };
  window.rethread = rethread;

  // While something is presented, only its own keys work.
  const works = ({ key, where }) => !document.querySelector(".present") || where === ".present" || key === "?";
  const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) && event.key !== "Escape") return;
    // A dialog closes itself, and nothing behind it hears.
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    // What is pressed with these keys is what has the focus.
    if ([" ", "Enter"].includes(event.key) && event.target instanceof Element && event.target.closest("button, a, summary")) return;
    // The newest page part asks first.
    for (const { key, handler, where } of keys.filter(works).reverse()) {
      if (key === event.key && document.querySelector(where) && handler(event) !== false) {
        event.preventDefault();
        return;
      }
    }
  });

  const CAPS = { " ": "Space", ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };
  const showKeys = () => {
    let dialog = document.getElementById("keys");
    if (dialog?.open) { dialog.close(); return; }
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "keys";
      dialog.setAttribute("aria-label", "Keyboard map");
      document.body.append(dialog);
    }
    const title = document.createElement("h2");
    title.textContent = "Keyboard";
    const list = document.createElement("dl");
    list.className = "keys";
    for (const { key, label, where } of keys.filter(works)) {
      if (!label || !document.querySelector(where)) continue;
      const term = document.createElement("dt");
      const cap = document.createElement("kbd");
      cap.textContent = CAPS[key] || key;
      term.append(cap);
      const said = document.createElement("dd");
      said.textContent = label;
      list.append(term, said);
    }
    dialog.replaceChildren(title, list);
    dialog.showModal();
  };
  rethread.on('[data-do="keys"]', "click", showKeys);
  rethread.key("?", "this map", showKeys);
  // The box in the bar, or the large one of a page that has its own.
  const BOX = ".bar-search input, main input[type=search]";
  rethread.key("/", "search all sessions", () => {
    const box = document.querySelector(BOX);
    box.focus();
    box.select();
  }, BOX);

  // Light and dark: by the system until somebody chooses.
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const chosen = stored();
  if (chosen) root.dataset.theme = chosen;
  rethread.on('[data-do="theme"]', "click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* It is kept for this page. */ }
  });
  // A click beside a dialog closes it.
  rethread.on("dialog", "click", (event, dialog) => { if (event.target === dialog) dialog.close(); });
})();
