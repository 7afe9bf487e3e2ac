"use strict";
// Shared by all pages: delegated event listeners, keyboard shortcuts, toasts, light and dark theme.
(() => {
  const keys = [];
  const rethread = {
    // Calls `handler(event, element)` for events on matching elements, including elements added later.
    on(selector, kind, handler) {
      document.addEventListener(kind, (event) => {
        const element = event.target instanceof Element ? event.target.closest(selector) : null;
        if (element) handler(event, element);
      });
    },
    // Calls `handler` once the document is parsed.
    ready(handler) {
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", handler, { once: true });
      else handler();
    },
    // Calls `handler` when the browser is idle. Use it for code that reads sizes and positions: it must not force a second layout.
    idle(handler) {
      if (window.requestIdleCallback) requestIdleCallback(handler, { timeout: 300 });
      else setTimeout(handler, 50);
    },
    // Adds a shortcut for pages that contain an element matching `where`. A handler that returns false passes the key on.
    key(key, label, handler, where = "body") {
      keys.push({ key, label, handler, where });
    },
    // Fetches a fragment of a page as text.
    async get(address) {
      const response = await fetch(address, { credentials: "same-origin", headers: { "x-rethread": "fragment" } });
      if (!response.ok) throw new Error(`${response.status} ${address}`);
      return response.text();
    },
    // Parses markup from the server into a document fragment.
    parseHtml(markup) {
      const template = document.createElement("template");
      template.innerHTML = markup;
      return template.content;
    },
    // Shows a toast for 2.5 seconds.
    notify(text) {
      const toast = document.getElementById("toast");
      toast.textContent = text;
      clearTimeout(rethread.toastTimer);
      rethread.toastTimer = setTimeout(() => { toast.textContent = ""; }, 2500);
    },
    // Copies text to the clipboard and shows a toast.
    async copy(text, message) {
      try {
        await navigator.clipboard.writeText(text);
        rethread.notify(message || "Copied");
      } catch {
        rethread.notify("The browser did not allow copying");
      }
    },
  };
  window.rethread = rethread;

  // During a presentation only its own shortcuts are active.
  const isActive = ({ key, where }) => !document.querySelector(".present") || where === ".present" || key === "?";
  const isTyping = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    // A dialog handles its own keys, and the page below it gets none.
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    // These keys activate the focused element.
    if ([" ", "Enter"].includes(event.key) && event.target instanceof Element && event.target.closest("button, a, summary")) return;
    // Shortcuts that were added last take precedence.
    for (const { key, handler, where } of keys.filter(isActive).reverse()) {
      if (key === event.key && document.querySelector(where) && handler(event) !== false) {
        event.preventDefault();
        return;
      }
    }
  });

  const KEY_LABELS = { " ": "Space", ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };
  const showKeys = () => {
    let dialog = document.getElementById("keys");
    if (dialog?.open) { dialog.close(); return; }
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "keys";
      dialog.setAttribute("aria-label", "Keyboard shortcuts");
      document.body.append(dialog);
    }
    const title = document.createElement("h2");
    title.textContent = "Keyboard shortcuts";
    const list = document.createElement("dl");
    list.className = "keys";
    for (const { key, label, where } of keys.filter(isActive)) {
      if (!label || !document.querySelector(where)) continue;
      const term = document.createElement("dt");
      const cap = document.createElement("kbd");
      cap.textContent = KEY_LABELS[key] || key;
      term.append(cap);
      const description = document.createElement("dd");
      description.textContent = label;
      list.append(term, description);
    }
    dialog.replaceChildren(title, list);
    dialog.showModal();
  };
  rethread.on('[data-command="keys"]', "click", showKeys);
  rethread.key("?", "show keyboard shortcuts", showKeys);
  // The search box in the bar, or the large one of a page that has its own.
  const SEARCH_BOX = ".bar-search input, main input[type=search]";
  rethread.key("/", "search all sessions", () => {
    const box = document.querySelector(SEARCH_BOX);
    box.focus();
    box.select();
  }, SEARCH_BOX);

  // Theme: follows the system until the user chooses one.
  const root = document.documentElement;
  const readTheme = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const theme = readTheme();
  if (theme) root.dataset.theme = theme;
  rethread.on('[data-command="theme"]', "click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* The choice applies to this page only. */ }
  });
  // A click on the backdrop of a dialog closes it.
  rethread.on("dialog", "click", (event, dialog) => { if (event.target === dialog) dialog.close(); });
})();
