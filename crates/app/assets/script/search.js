// Search as you type: a combobox with a list of matches.
(() => {
  // The server drops waiting searches of a client when a newer one of the same client arrives.
  const client = Math.random().toString(36).slice(2);
  let boxCount = 0;

  const attach = (input) => {
    const number = (boxCount += 1);
    const list = document.createElement("div");
    list.className = "hits";
    list.id = `hits-${number}`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Matches");
    list.hidden = true;
    input.form.append(list);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) {
      input.setAttribute(name, value);
    }

    let request = null;
    let shownQuery = "";
    const options = () => [...list.querySelectorAll('[role="option"]')];
    const selectedOption = () => list.querySelector('[aria-selected="true"]');
    const open = () => {
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
    };
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      selectOption(null);
    };
    const selectOption = (option) => {
      for (const other of options()) other.setAttribute("aria-selected", String(other === option));
      if (option) {
        input.setAttribute("aria-activedescendant", option.id);
        option.scrollIntoView({ block: "nearest" });
      } else {
        input.removeAttribute("aria-activedescendant");
      }
    };
    const search = async () => {
      const query = input.value.trim();
      if (request) request.abort();
      request = null;
      if (!query) {
        shownQuery = "";
        list.replaceChildren();
        return close();
      }
      if (query === shownQuery) return open();
      const current = (request = new AbortController());
      try {
        const address = `${input.form.getAttribute("action")}/hits?q=${encodeURIComponent(query)}&limit=8&client=${client}-${number}`;
        const response = await fetch(address, { signal: current.signal, headers: { "x-rethread": "fragment" } });
        if (response.status !== 200) return;
        const markup = await response.text();
        // Ignore responses to superseded requests.
        if (request !== current || document.activeElement !== input) return;
        shownQuery = query;
        list.replaceChildren(rethread.parseHtml(markup));
        options().forEach((option, index) => { option.id = `${list.id}-${index}`; });
        list.scrollTop = 0;
        selectOption(null);
        open();
      } catch { /* The request was aborted, or the server stopped. */ }
    };
    // Every keystroke searches immediately. The search before it is cancelled, here and on the server.
    input.addEventListener("input", search);
    input.addEventListener("keydown", (event) => {
      const all = options();
      const index = all.indexOf(selectedOption());
      if ((event.key === "ArrowDown" || event.key === "ArrowUp") && all.length) {
        event.preventDefault();
        if (list.hidden) return open();
        const next = event.key === "ArrowDown" ? index + 1 : index < 0 ? all.length - 1 : index - 1;
        selectOption(all[next] || null);
      } else if (event.key === "Enter" && !list.hidden && selectedOption()) {
        event.preventDefault();
        location.href = selectedOption().href;
      } else if (event.key === "Escape") {
        event.preventDefault();
        if (list.hidden) input.blur(); else close();
      }
    });
    // An empty query lets the server refresh its snapshot before the first keystroke.
    input.addEventListener("focus", () => { fetch(`${input.form.getAttribute("action")}/hits?q=`, { headers: { "x-rethread": "fragment" } }).catch(() => {}); });
    input.addEventListener("focus", () => { if (list.childElementCount && input.value.trim() === shownQuery) open(); });
    input.form.addEventListener("focusout", (event) => { if (!input.form.contains(event.relatedTarget)) close(); });
    // Pressing on an option must not move the focus: the list would close before the click.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
  };
  // Requests the progress of the index every second until the server has none to report.
  const pollProgress = (element) => {
    setTimeout(async () => {
      try {
        const response = await fetch(element.dataset.poll, { headers: { "x-rethread": "fragment" } });
        if (response.status !== 200) return;
        const next = rethread.parseHtml(await response.text()).querySelector("[data-poll]");
        if (!next) return element.remove();
        element.replaceChildren(...next.childNodes);
        pollProgress(element);
      } catch { /* The server stopped. */ }
    }, 1000);
  };
  rethread.ready(() => {
    document.querySelectorAll("[data-poll]").forEach(pollProgress);
    for (const input of document.querySelectorAll(".bar-search input, .home-search input")) attach(input);
    if (!document.querySelector(".results")) return;
    // On the search page the same keys step through the matches.
    const links = () => [...document.querySelectorAll("a.result-link")];
    const step = (by) => {
      const all = links();
      const index = all.indexOf(document.activeElement);
      const next = all[index < 0 ? 0 : Math.min(all.length - 1, Math.max(0, index + by))];
      if (!next) return false;
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    };
    rethread.key("j", "next match", () => step(1));
    rethread.key("k", "previous match", () => step(-1));
  });
})();
