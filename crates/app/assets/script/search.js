// Hits while somebody types: a box with a list of choices below it.
(() => {
  // Newer questions of one page take the place of older ones that still wait.
  const client = Math.random().toString(36).slice(2);
  let made = 0;

  const attach = (input) => {
    const no = (made += 1);
    const list = document.createElement("div");
    list.className = "hits";
    list.id = `hits-${no}`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Hits");
    list.hidden = true;
    input.form.append(list);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) {
      input.setAttribute(name, value);
    }

    let asked = null;
    let shown = "";
    const options = () => [...list.querySelectorAll('[role="option"]')];
    const chosen = () => list.querySelector('[aria-selected="true"]');
    const open = () => {
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
    };
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      choose(null);
    };
    const choose = (option) => {
      for (const other of options()) other.setAttribute("aria-selected", String(other === option));
      if (option) {
        input.setAttribute("aria-activedescendant", option.id);
        option.scrollIntoView({ block: "nearest" });
      } else {
        input.removeAttribute("aria-activedescendant");
      }
    };
    const ask = async () => {
      const query = input.value.trim();
      if (asked) asked.abort();
      asked = null;
      if (!query) {
        shown = "";
        list.replaceChildren();
        return close();
      }
      if (query === shown) return open();
      const mine = (asked = new AbortController());
      try {
        const address = `/search/hits?q=${encodeURIComponent(query)}&limit=8&client=${client}-${no}`;
        const answer = await fetch(address, { signal: mine.signal, headers: { "x-rethread": "piece" } });
        if (answer.status !== 200) return;
        const markup = await answer.text();
        // Only the newest answer counts.
        if (asked !== mine || document.activeElement !== input) return;
        shown = query;
        list.replaceChildren(rethread.elements(markup));
        options().forEach((option, at) => { option.id = `${list.id}-${at}`; });
        list.scrollTop = 0;
        choose(null);
        open();
      } catch { /* It was given up, or the server is gone. */ }
    };
    // Every letter asks at once: what it takes the place of is given up, here and by the server.
    input.addEventListener("input", ask);
    input.addEventListener("keydown", (event) => {
      const all = options();
      const at = all.indexOf(chosen());
      if ((event.key === "ArrowDown" || event.key === "ArrowUp") && all.length) {
        event.preventDefault();
        if (list.hidden) return open();
        const next = event.key === "ArrowDown" ? at + 1 : at < 0 ? all.length - 1 : at - 1;
        choose(all[next] || null);
      } else if (event.key === "Enter" && !list.hidden && chosen()) {
        event.preventDefault();
        location.href = chosen().href;
      } else if (event.key === "Escape") {
        event.preventDefault();
        if (list.hidden) input.blur(); else close();
      }
    });
    // The server looks through its files before the first letter comes.
    input.addEventListener("focus", () => { fetch("/search/hits?q=", { headers: { "x-rethread": "piece" } }).catch(() => {}); });
    input.addEventListener("focus", () => { if (list.childElementCount && input.value.trim() === shown) open(); });
    input.form.addEventListener("focusout", (event) => { if (!input.form.contains(event.relatedTarget)) close(); });
    // A press on a choice must not take the focus away before it is a click.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
  };
  rethread.ready(() => {
    for (const input of document.querySelectorAll(".bar-search input, .home-search input")) attach(input);
    if (!document.querySelector(".found")) return;
    // On the page of a search the same keys go through the hits.
    const links = () => [...document.querySelectorAll("a.found-link")];
    const step = (by) => {
      const all = links();
      const at = all.indexOf(document.activeElement);
      const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
      if (!next) return false;
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    };
    rethread.key("j", "next hit", () => step(1));
    rethread.key("k", "hit before", () => step(-1));
  });
})();
