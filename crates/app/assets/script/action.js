"use strict";
// Actions in a dialog: what would be done is shown, done when somebody says so, and taken back by the same dialog.
(() => {
  const { rethread } = window;
  let dialog = null;
  let box = null;
  let asked = 0;
  let changed = false;

  const make = () => {
    dialog = document.createElement("dialog");
    dialog.id = "act";
    box = document.createElement("div");
    dialog.append(box);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      asked += 1;
      box.replaceChildren();
      box.removeAttribute("aria-busy");
      dialog.removeAttribute("aria-labelledby");
      // Pages that show what changed and do not look themselves say so.
      if (changed && document.querySelector("[data-reload]")) location.reload();
      changed = false;
    });
  };

  const titled = (text) => {
    const title = document.createElement("h2");
    title.className = "act-title";
    title.textContent = text;
    return title;
  };

  // Shows what came, and moves the focus there.
  const fill = (...content) => {
    box.replaceChildren(...content);
    const title = box.querySelector(".act-title") || titled("rethread");
    title.id = "act-title";
    dialog.setAttribute("aria-labelledby", title.id);
    title.tabIndex = -1;
    if (!title.isConnected) box.prepend(title);
    const first = box.querySelector("[autofocus]") || title;
    first.focus();
    // What stands there is meant to be written over.
    first.select?.();
    dialog.scrollTop = 0;
    const key = box.querySelector("[data-changed]")?.dataset.changed;
    if (key !== undefined) note(key);
  };

  // Says to the page that something was changed.
  const note = (key) => {
    changed = true;
    document.dispatchEvent(new CustomEvent("rethread:changed", { detail: { key } }));
  };

  const plain = (title, text) => {
    const words = document.createElement("p");
    words.className = "plain";
    words.textContent = text;
    return [titled(title), words];
  };

  // Asks the server, shows the dialog meanwhile, and lets late answers to earlier questions pass. What was done is always told,
  // also to who has closed the dialog meanwhile.
  const ask = async (address, body) => {
    if (!dialog) make();
    if (!dialog.open) {
      fill(...plain("One moment", ""));
      dialog.showModal();
    }
    asked += 1;
    const mine = asked;
    box.setAttribute("aria-busy", "true");
    let content = null;
    try {
      const answer = await fetch(address, {
        method: body ? "POST" : "GET",
        body,
        credentials: "same-origin",
        headers: { "x-rethread": "piece" },
      });
      const text = await answer.text();
      const kind = answer.headers.get("content-type") || "";
      content = kind.startsWith("text/html") ? [rethread.elements(text)] : plain("That did not work", text);
    } catch {
      content = plain("That did not work", "The server does not answer. Is `rethread serve` still running?");
    }
    const done = content[0].querySelector?.("[data-changed]");
    const late = mine !== asked;
    if (late && !done) return;
    if (late && dialog.open) {
      // Something else is looked at: there are only words for it.
      note(done.dataset.changed);
      rethread.say(content[0].querySelector(".act-title")?.textContent || "It is done");
      return;
    }
    box.removeAttribute("aria-busy");
    if (!dialog.open) dialog.showModal();
    fill(...content);
  };

  rethread.on("[data-act]", "click", (event, element) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const { act, at, before } = element.dataset;
    const { key } = (element.closest("[data-key]") || document.querySelector("[data-key]")).dataset;
    const query = new URLSearchParams();
    if (at) query.set("at", at);
    if (before) query.set("before", "1");
    ask(`/s/${encodeURIComponent(key)}/act/${encodeURIComponent(act)}?${query}`);
  });

  rethread.on("#act form, form.act-undo", "submit", (event, form) => {
    event.preventDefault();
    if (box?.getAttribute("aria-busy")) return;
    ask(form.getAttribute("action"), new URLSearchParams(new FormData(form, event.submitter)));
  });

  rethread.on('#act [data-do="leave"]', "click", (event) => {
    event.preventDefault();
    dialog.close();
  });

  rethread.on("[data-copy]", "click", (event, button) => {
    rethread.copy(button.dataset.copy);
    // Behind a dialog the small words are not seen.
    if (!button.closest("dialog")) return;
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });

  // Of a list of branches, two can be chosen and no more.
  const pair = (form) => {
    const boxes = [...form.querySelectorAll("input[name=pick]")];
    const chosen = boxes.filter((one) => one.checked).length;
    for (const one of boxes) one.disabled = chosen >= 2 && !one.checked;
    const button = form.querySelector(".branch-compare button");
    if (button) button.disabled = chosen !== 2;
  };
  rethread.on("form[data-pair]", "change", (event, form) => pair(form));
  rethread.ready(() => document.querySelectorAll("form[data-pair]").forEach(pair));
})();
