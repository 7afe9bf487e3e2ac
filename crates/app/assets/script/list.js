// Lists of sessions: loading more rows, the selected row, its preview, restoring the position on return.
(() => {
  const rows = () => [...document.querySelectorAll(".row")];
  const selected = () => document.querySelector(".row-selected");
  const isInView = (row) => {
    const box = row.getBoundingClientRect();
    const bar = document.querySelector(".bar");
    return box.top >= (bar ? bar.offsetHeight : 0) && box.bottom <= innerHeight;
  };

  const select = (row) => {
    for (const other of document.querySelectorAll(".row-selected")) other.classList.remove("row-selected");
    if (!row) return;
    row.classList.add("row-selected");
    if (!isInView(row)) row.scrollIntoView({ block: "center" });
    row.querySelector(".row-link").focus({ preventScroll: true });
    if (preview.pinned) preview.show(row, 0);
  };
  const step = (by) => {
    const all = rows();
    if (!all.length) return false;
    const index = all.indexOf(selected());
    select(all[index < 0 ? 0 : Math.min(all.length - 1, Math.max(0, index + by))]);
  };
  rethread.ready(() => {
    if (!document.querySelector(".list")) return;
    rethread.key("j", "next session", () => step(1));
    rethread.key("k", "previous session", () => step(-1));
    rethread.key("ArrowDown", "", () => step(1));
    rethread.key("ArrowUp", "", () => (selected() ? step(-1) : false));
    rethread.key("Enter", "open the session", () => {
      if (!selected() || document.activeElement?.closest("a, button, summary")) return false;
      selected().querySelector(".row-link").click();
    });
  });
  rethread.on(".row", "focusin", (_, row) => {
    if (row.classList.contains("row-selected")) return;
    for (const other of document.querySelectorAll(".row-selected")) other.classList.remove("row-selected");
    row.classList.add("row-selected");
  });

  // The preview of a session, placed so that it does not cover the row of the session.
  const preview = {
    pinned: false,
    cache: new Map(),
    timer: 0,
    row: null,
    box: () => document.getElementById("preview"),
    show(row, delay) {
      clearTimeout(preview.timer);
      preview.row = row;
      preview.timer = setTimeout(async () => {
        const box = preview.box();
        if (!box) return;
        const key = row.dataset.key;
        try {
          if (!preview.cache.has(key)) preview.cache.set(key, await rethread.get(`${row.querySelector(".row-link").getAttribute("href")}/preview`));
        } catch {
          return;
        }
        if (preview.row !== row) return;
        box.replaceChildren(rethread.parseHtml(preview.cache.get(key)));
        box.hidden = false;
        preview.position(box, row);
      }, delay);
    },
    position(box, row) {
      const rect = row.getBoundingClientRect();
      const below = rect.bottom + 8;
      const [minTop, above] = [(document.querySelector(".bar")?.offsetHeight || 0) + 8, rect.top - box.offsetHeight - 8];
      const fits = below + box.offsetHeight < innerHeight;
      // If it fits neither below nor above the row, it covers other rows rather than the bar. The style is set through
      // the object model: the content security policy refuses style attributes.
      box.style.top = `${fits ? below : above >= minTop ? above : Math.max(minTop, innerHeight - box.offsetHeight - 8)}px`;
    },
    hide() {
      clearTimeout(preview.timer);
      preview.row = null;
      const box = preview.box();
      if (box) box.hidden = true;
    },
  };
  document.addEventListener("mouseover", (event) => {
    const row = event.target instanceof Element ? event.target.closest("[data-list] .row") : null;
    if (!row) {
      if (!preview.pinned) preview.hide();
    } else if (row !== preview.row) {
      if (!preview.pinned) preview.hide();
      preview.show(row, 150);
    }
  });
  addEventListener("scroll", () => { if (!preview.pinned) preview.hide(); }, { passive: true });
  rethread.ready(() => {
    if (!preview.box()) return;
    rethread.key("p", "preview the session", () => {
      preview.pinned = !preview.pinned;
      if (!preview.pinned) return preview.hide();
      const row = selected() || rows()[0];
      if (row) select(row);
    });
    rethread.key("Escape", "", () => {
      if (preview.box().hidden) return false;
      preview.pinned = false;
      preview.hide();
    });
    rethread.key("f", "filter the list", () => {
      const field = document.querySelector("[data-filters] input");
      if (!field) return false;
      field.focus();
      field.select();
    });
  });

  // Filters: empty fields are omitted from the address, checkboxes and selects apply immediately.
  document.addEventListener("formdata", (event) => {
    if (!event.target.matches("[data-filters]")) return;
    for (const [name, value] of [...event.formData]) if (!value.trim() || value === "newest") event.formData.delete(name);
  });
  rethread.on("[data-filters] input[type=checkbox], [data-filters] select", "change", (_, field) => field.form.requestSubmit());

  // Replaces the "more" row by the next rows.
  const loadMore = async (link) => {
    link.setAttribute("aria-busy", "true");
    const markup = await rethread.get(link.getAttribute("href").replace(/\/sessions(?=\?|$)/, "/sessions/rows"));
    link.closest("tr").replaceWith(rethread.parseHtml(markup));
  };
  rethread.on("[data-more]", "click", (event, link) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.hasAttribute("aria-busy")) return;
    loadMore(link).catch(() => { location.href = link.href; });
  });

  // Restores the number of rows, the scroll position and the selected row on return.
  const storageKey = () => `list:${location.pathname}${location.search}`;
  const savePosition = () => {
    if (!document.querySelector(".list")) return;
    const saved = { top: scrollY, rows: rows().length, key: selected()?.dataset.key };
    try { sessionStorage.setItem(storageKey(), JSON.stringify(saved)); } catch { /* The browser restores the position itself. */ }
  };
  addEventListener("pagehide", savePosition);
  rethread.on(".row", "click", (_, row) => {
    for (const other of document.querySelectorAll(".row-selected")) other.classList.remove("row-selected");
    row.classList.add("row-selected");
  });
  rethread.ready(async () => {
    if (performance.getEntriesByType("navigation")[0]?.type !== "back_forward" || !document.querySelector(".list")) return;
    let saved = null;
    try { saved = JSON.parse(sessionStorage.getItem(storageKey())); } catch { /* No position was saved. */ }
    if (!saved) return;
    try {
      for (let page = 0; page < 20 && rows().length < saved.rows; page += 1) {
        const link = document.querySelector("[data-more]");
        if (!link) break;
        await loadMore(link);
      }
    } catch { /* Continue with the rows that are loaded. */ }
    const row = saved.key && rows().find((candidate) => candidate.dataset.key === saved.key);
    if (row) {
      row.classList.add("row-selected");
      row.querySelector(".row-link").focus({ preventScroll: true });
    }
    scrollTo(0, saved.top);
  });

  // Loads slow fragments after the first paint.
  rethread.ready(() => {
    for (const box of document.querySelectorAll("[data-fragment]")) {
      requestAnimationFrame(() => setTimeout(async () => {
        try {
          box.replaceChildren(rethread.parseHtml(await rethread.get(box.dataset.fragment)));
          for (const wide of box.querySelectorAll(".scroll")) wide.scrollLeft = wide.scrollWidth;
        } catch {
          box.textContent = "This part could not be loaded. Is rethread still running?";
        }
      }));
    }
  });
})();
