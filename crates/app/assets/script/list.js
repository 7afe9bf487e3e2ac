// Lists of sessions: more rows, the selected row, its preview, and the way back to it.
(() => {
  const rows = () => [...document.querySelectorAll(".row")];
  const on = () => document.querySelector(".row-on");
  const inView = (row) => {
    const box = row.getBoundingClientRect();
    const bar = document.querySelector(".bar");
    return box.top >= (bar ? bar.offsetHeight : 0) && box.bottom <= innerHeight;
  };

  const select = (row) => {
    for (const other of document.querySelectorAll(".row-on")) other.classList.remove("row-on");
    if (!row) return;
    row.classList.add("row-on");
    if (!inView(row)) row.scrollIntoView({ block: "center" });
    row.querySelector(".row-link").focus({ preventScroll: true });
    if (preview.pinned) preview.show(row, 0);
  };
  const step = (by) => {
    const all = rows();
    if (!all.length) return false;
    const at = all.indexOf(on());
    select(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]);
  };
  rethread.ready(() => {
    if (!document.querySelector(".list")) return;
    rethread.key("j", "next session", () => step(1));
    rethread.key("k", "session before", () => step(-1));
    rethread.key("ArrowDown", "", () => step(1));
    rethread.key("ArrowUp", "", () => (on() ? step(-1) : false));
    rethread.key("Enter", "open the session", () => {
      if (!on() || document.activeElement?.closest("a, button, summary")) return false;
      on().querySelector(".row-link").click();
    });
  });
  rethread.on(".row", "focusin", (_, row) => {
    if (row.classList.contains("row-on")) return;
    for (const other of document.querySelectorAll(".row-on")) other.classList.remove("row-on");
    row.classList.add("row-on");
  });

  // The preview: beside the rows, never over the one it is about.
  const preview = {
    pinned: false,
    known: new Map(),
    timer: 0,
    wanted: null,
    box: () => document.getElementById("preview"),
    show(row, wait) {
      clearTimeout(preview.timer);
      preview.wanted = row;
      preview.timer = setTimeout(async () => {
        const box = preview.box();
        if (!box) return;
        const key = row.dataset.key;
        try {
          if (!preview.known.has(key)) preview.known.set(key, await rethread.get(`/s/${encodeURIComponent(key)}/preview`));
        } catch {
          return;
        }
        if (preview.wanted !== row) return;
        box.replaceChildren(rethread.elements(preview.known.get(key)));
        box.hidden = false;
        preview.place(box, row);
      }, wait);
    },
    place(box, row) {
      const at = row.getBoundingClientRect();
      const below = at.bottom + 8;
      const [least, above] = [(document.querySelector(".bar")?.offsetHeight || 0) + 8, at.top - box.offsetHeight - 8];
      const fits = below + box.offsetHeight < innerHeight;
      // Where it fits neither below nor above, it stands over other rows rather than behind the bar. By the object model, which the
      // policy lets us: attributes of style would be refused.
      box.style.top = `${fits ? below : above >= least ? above : Math.max(least, innerHeight - box.offsetHeight - 8)}px`;
    },
    hide() {
      clearTimeout(preview.timer);
      preview.wanted = null;
      const box = preview.box();
      if (box) box.hidden = true;
    },
  };
  document.addEventListener("mouseover", (event) => {
    const row = event.target instanceof Element ? event.target.closest("[data-list] .row") : null;
    if (!row) {
      if (!preview.pinned) preview.hide();
    } else if (row !== preview.wanted) {
      if (!preview.pinned) preview.hide();
      preview.show(row, 150);
    }
  });
  addEventListener("scroll", () => { if (!preview.pinned) preview.hide(); }, { passive: true });
  rethread.ready(() => {
    if (!preview.box()) return;
    rethread.key("p", "preview of the session", () => {
      preview.pinned = !preview.pinned;
      if (!preview.pinned) return preview.hide();
      const row = on() || rows()[0];
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

  // Filters: blanks stay out of the address, boxes count at once.
  document.addEventListener("formdata", (event) => {
    if (!event.target.matches("[data-filters]")) return;
    for (const [name, value] of [...event.formData]) if (!value.trim() || value === "newest") event.formData.delete(name);
  });
  rethread.on("[data-filters] input[type=checkbox], [data-filters] select", "change", (_, field) => field.form.requestSubmit());

  // More rows come where the button was.
  const more = async (link) => {
    link.setAttribute("aria-busy", "true");
    const markup = await rethread.get(link.getAttribute("href").replace(/^\/sessions/, "/sessions/rows"));
    link.closest("tr").replaceWith(rethread.elements(markup));
  };
  rethread.on("[data-more]", "click", (event, link) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.hasAttribute("aria-busy")) return;
    more(link).catch(() => { location.href = link.href; });
  });

  // The way back: as many rows, the same place, the same row.
  const place = () => `list:${location.pathname}${location.search}`;
  const keep = () => {
    if (!document.querySelector(".list")) return;
    const kept = { top: scrollY, rows: rows().length, key: on()?.dataset.key };
    try { sessionStorage.setItem(place(), JSON.stringify(kept)); } catch { /* Then the browser finds its own way. */ }
  };
  addEventListener("pagehide", keep);
  rethread.on(".row", "click", (_, row) => {
    for (const other of document.querySelectorAll(".row-on")) other.classList.remove("row-on");
    row.classList.add("row-on");
  });
  rethread.ready(async () => {
    if (performance.getEntriesByType("navigation")[0]?.type !== "back_forward" || !document.querySelector(".list")) return;
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(place())); } catch { /* Nothing was kept. */ }
    if (!kept) return;
    try {
      for (let turn = 0; turn < 20 && rows().length < kept.rows; turn += 1) {
        const link = document.querySelector("[data-more]");
        if (!link) break;
        await more(link);
      }
    } catch { /* What is there is shown. */ }
    const row = kept.key && rows().find((one) => one.dataset.key === kept.key);
    if (row) {
      row.classList.add("row-on");
      row.querySelector(".row-link").focus({ preventScroll: true });
    }
    scrollTo(0, kept.top);
  });

  // Pieces that take longer come after the first paint.
  rethread.ready(() => {
    for (const box of document.querySelectorAll("[data-piece]")) {
      requestAnimationFrame(() => setTimeout(async () => {
        try {
          box.replaceChildren(rethread.elements(await rethread.get(box.dataset.piece)));
          for (const wide of box.querySelectorAll(".scroll")) wide.scrollLeft = wide.scrollWidth;
        } catch {
          box.textContent = "This could not be fetched. Is rethread still running?";
        }
      }));
    }
  });
})();
