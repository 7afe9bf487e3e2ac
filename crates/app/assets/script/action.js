"use strict";
// Actions in a dialog: it shows a preview, runs the action once the user confirms, and offers to undo it.
(() => {
  const { rethread } = window;
  let dialog = null;
  let box = null;
  let requestCount = 0;
  let hasChanged = false;

  const createDialog = () => {
    dialog = document.createElement("dialog");
    dialog.id = "action-dialog";
    box = document.createElement("div");
    dialog.append(box);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      requestCount += 1;
      box.replaceChildren();
      box.removeAttribute("aria-busy");
      dialog.removeAttribute("aria-labelledby");
      // Pages with `data-reload` show state that the action changed and do not update themselves.
      if (hasChanged && document.querySelector("[data-reload]")) location.reload();
      hasChanged = false;
    });
  };

  const titleElement = (text) => {
    const title = document.createElement("h2");
    title.className = "action-title";
    title.textContent = text;
    return title;
  };

  // Shows content in the dialog and moves the focus into it.
  const showContent = (...content) => {
    box.replaceChildren(...content);
    const title = box.querySelector(".action-title") || titleElement("rethread");
    title.id = "action-title";
    dialog.setAttribute("aria-labelledby", title.id);
    title.tabIndex = -1;
    if (!title.isConnected) box.prepend(title);
    const first = box.querySelector("[autofocus]") || title;
    first.focus();
    // Select a prefilled value so that typing replaces it.
    first.select?.();
    dialog.scrollTop = 0;
    const key = box.querySelector("[data-changed]")?.dataset.changed;
    if (key !== undefined) announceChange(key);
  };

  // Notifies the page that a session changed.
  const announceChange = (key) => {
    hasChanged = true;
    document.dispatchEvent(new CustomEvent("rethread:changed", { detail: { key } }));
  };

  const messageContent = (title, text) => {
    const paragraph = document.createElement("p");
    paragraph.className = "plain";
    paragraph.textContent = text;
    return [titleElement(title), paragraph];
  };

  // Sends a request and shows the dialog while it runs. Responses to superseded requests are ignored, except that
  // a completed action is always reported, even if the user has closed the dialog.
  const openAction = async (address, body) => {
    if (!dialog) createDialog();
    if (!dialog.open) {
      showContent(...messageContent("Loading…", ""));
      dialog.showModal();
    }
    requestCount += 1;
    const request = requestCount;
    box.setAttribute("aria-busy", "true");
    let content = null;
    try {
      const response = await fetch(address, {
        method: body ? "POST" : "GET",
        body,
        credentials: "same-origin",
        headers: { "x-rethread": "fragment" },
      });
      const text = await response.text();
      const kind = response.headers.get("content-type") || "";
      content = kind.startsWith("text/html") ? [rethread.parseHtml(text)] : messageContent("The action failed", text);
    } catch {
      content = messageContent("The action failed", "The server does not respond. Is `rethread serve` still running?");
    }
    const done = content[0].querySelector?.("[data-changed]");
    const isSuperseded = request !== requestCount;
    if (isSuperseded && !done) return;
    if (isSuperseded && dialog.open) {
      // The dialog shows another action already: report this one in a toast.
      announceChange(done.dataset.changed);
      rethread.notify(content[0].querySelector(".action-title")?.textContent || "Done");
      return;
    }
    box.removeAttribute("aria-busy");
    if (!dialog.open) dialog.showModal();
    showContent(...content);
  };

  rethread.on("[data-action]", "click", (event, element) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const { action, at, before } = element.dataset;
    const { actions } = (element.closest("[data-actions]") || document.querySelector("[data-actions]")).dataset;
    const query = new URLSearchParams();
    if (at) query.set("at", at);
    if (before) query.set("before", "1");
    openAction(`${actions}/action/${encodeURIComponent(action)}?${query}`);
  });

  rethread.on("#action-dialog form, form.action-undo", "submit", (event, form) => {
    event.preventDefault();
    if (box?.getAttribute("aria-busy")) return;
    openAction(form.getAttribute("action"), new URLSearchParams(new FormData(form, event.submitter)));
  });

  rethread.on('#action-dialog [data-command="leave"]', "click", (event) => {
    event.preventDefault();
    dialog.close();
  });

  rethread.on("[data-copy]", "click", (event, button) => {
    rethread.copy(button.dataset.copy);
    // A dialog covers the toast.
    if (!button.closest("dialog")) return;
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  // Limits the selection in a list of branches to two.
  const limitSelection = (form) => {
    const boxes = [...form.querySelectorAll("input[name=pick]")];
    const selectedCount = boxes.filter((checkbox) => checkbox.checked).length;
    for (const checkbox of boxes) checkbox.disabled = selectedCount >= 2 && !checkbox.checked;
    const button = form.querySelector(".branch-compare button");
    if (button) button.disabled = selectedCount !== 2;
  };
  rethread.on("form[data-compare]", "change", (event, form) => limitSelection(form));
  rethread.ready(() => document.querySelectorAll("form[data-compare]").forEach(limitSelection));
})();
