"use strict";
// The session page: loads chunks near the viewport and bodies of opened tool calls; links, copying, images, printing.
(() => {
  const { on, key, get, parseHtml, notify, copy } = window.rethread;
  const nearObserver = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) load(entry.target);
  }, { rootMargin: "1500px 0px" });
  // Chunks far from the viewport are unloaded: a page of a hundred thousand elements scrolls badly.
  const farObserver = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      // Chunks that were loaded from afar (for a presentation) have not been in view yet.
      if (isIntersecting) target.seen = true;
      else if (target.seen) unloadChunk(target, boundingClientRect.height);
    }
  }, { rootMargin: "24000px 0px" });

  const sessionOf = (element) => element.closest("[data-base]");
  const address = (element, fragment) => `${sessionOf(element).dataset.base}/${fragment}`;

  // Removes the ids of turns of a subagent shown inside another page. Links to them lead to the page of the subagent.
  function removeIds(markup, target) {
    if (!target || target.dataset.chunk && !target.closest(".agent")) return markup;
    const { base } = (target.dataset.base ? target : sessionOf(target)).dataset;
    for (const element of markup.querySelectorAll("[id]")) element.removeAttribute("id");
    for (const link of markup.querySelectorAll('a[href^="#"]')) link.setAttribute("href", base + link.getAttribute("href"));
    return markup;
  }

  // Fetches a pending chunk and replaces its placeholder.
  async function load(chunk) {
    if (!("pending" in chunk.dataset)) return chunk;
    if (!chunk.loading) {
      chunk.dataset.loading = "";
      const query = sessionOf(chunk).dataset.query;
      chunk.loading = get(`${address(chunk, "chunk")}${query}number=${chunk.dataset.chunk}`).then((markup) => {
        nearObserver.unobserve(chunk);
        delete chunk.dataset.pending;
        delete chunk.dataset.loading;
        chunk.classList.remove("chunk-pending");
        chunk.removeAttribute("style");
        chunk.placeholder = [...chunk.childNodes];
        chunk.replaceChildren(removeIds(parseHtml(markup), chunk));
        chunk.expandedCount = countExpanded(chunk);
        rememberServedHtml(chunk);
        chunk.seen = false;
        observeChunks(chunk);
        if (chunk.parentElement.id === "main" && !window.rethread.packed) farObserver.observe(chunk);
      }, () => { chunk.loading = null; delete chunk.dataset.loading; });
    }
    await chunk.loading;
    return chunk;
  }

  // Records the markup of the parts of the last chunk as the server sent it. While the session grows they are sent again,
  // and parts that differ only because the user expanded them must not be replaced.
  function rememberServedHtml(chunk) {
    if (chunk.nextElementSibling) return;
    for (const part of chunk.querySelectorAll(":scope > .turn > *")) part.servedHtml = part.outerHTML;
  }

  const countExpanded = (chunk) => chunk.querySelectorAll("details[open]").length;

  // Replaces a loaded chunk by its placeholder at the same height, unless the user interacted with the chunk.
  let isPrinting = false;
  function unloadChunk(chunk, height) {
    const isUsed = isPrinting || countExpanded(chunk) !== chunk.expandedCount || chunk.contains(document.activeElement)
      || chunk.querySelector(".part-target") || getSelection().containsNode(chunk, true);
    if (isUsed || !chunk.placeholder.length || !chunk.nextElementSibling || !height) return;
    farObserver.unobserve(chunk);
    chunk.loading = null;
    chunk.dataset.pending = "";
    chunk.classList.add("chunk-pending");
    chunk.style.height = `${height}px`;
    chunk.replaceChildren(...chunk.placeholder);
    nearObserver.observe(chunk);
  }

  function observeChunks(root) {
    for (const chunk of root.querySelectorAll(".chunk-pending")) nearObserver.observe(chunk);
  }

  // Fetches content for an element once. The element has `data-loading` until the response is in.
  function fetchInto(element, source, insert) {
    if (!element.loading) {
      element.dataset.loading = "";
      element.loading = get(source).then(insert).finally(() => {
        delete element.dataset.loading;
        element.loading = null;
      });
    }
    return element.loading;
  }

  // Loads the body of a tool call that was opened, and the subagent that the call started.
  async function loadDetails(details) {
    const body = details.querySelector(":scope > [data-src]");
    if (body) {
      try {
        await fetchInto(body, body.dataset.src, (markup) => {
          body.replaceChildren(parseHtml(markup));
          delete body.dataset.src;
        });
      } catch {
        body.textContent = "This part could not be loaded. Close and open it to try again.";
        return;
      }
    }
    for (const file of details.querySelectorAll(".result-file[data-result-file]")) {
      if (file.querySelector("button")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button";
      button.dataset.command = "result-file";
      button.textContent = "Show the full result";
      file.append(" ", button);
    }
    const agent = details.querySelector(".agent-slot:empty");
    if (agent && sessionOf(details)) {
      const source = `${address(details, "call").replace(/\/agent\/.*(?=\/call$)/, "")}?call=${encodeURIComponent(agent.dataset.call)}`;
      try {
        await fetchInto(agent, source, (text) => {
          const markup = parseHtml(text);
          agent.replaceChildren(removeIds(markup, markup.querySelector("[data-base]")));
          observeChunks(agent);
        });
      } catch {
        agent.dataset.missing = "";
      }
    }
  }
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details instanceof HTMLDetailsElement && details.open) loadDetails(details);
    if (details instanceof HTMLDetailsElement && details.open && details.matches(".menu")) {
      for (const other of document.querySelectorAll(".menu[open]")) if (other !== details) other.open = false;
    }
  }, true);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (!menu.contains(event.target) || event.target.closest(".menu-list :is(button, a)")) menu.open = false;
    }
  });

  // Returns the number of the chunk that contains an entry, or null. An exported page knows it without a server.
  const findChunk = window.rethread.findChunk || (async (main, name) => {
    const response = await fetch(`${main.dataset.base}/chunk${main.dataset.query}at=${encodeURIComponent(name)}`, { headers: { "x-rethread": "fragment" } });
    return response.ok ? response.headers.get("x-chunk") : null;
  });

  // Scrolls a turn or line to the top of the viewport, or to the height `top`. Loads its chunk first if necessary.
  async function show(name, top) {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base) return false;
    const line = /^L(\d+)$/.exec(name);
    const find = () => (line ? findPart(Number(line[1])) : document.getElementById(name));
    let element = find();
    if (!element || element.matches(".turn-anchor")) {
      const pending = element && element.closest(".chunk-pending");
      if (pending) await load(pending);
      // Every turn of this branch has an anchor in the page; lines have none.
      else if (!line) return false;
      else {
        const number = await findChunk(main, name);
        if (number === null) return false;
        const chunk = await load(main.querySelector(`:scope > [data-chunk="${Number(number)}"]`));
        // A line without an element of its own belongs to the part before it.
        element = find() || line && findPartBefore(chunk, Number(line[1]));
      }
      element = element && !element.matches(".turn-anchor") ? element : find();
    }
    if (!element) return false;
    for (let ancestor = element.parentElement; ancestor; ancestor = ancestor.parentElement) if (ancestor instanceof HTMLDetailsElement) ancestor.open = true;
    await keepInPlace(element, 4, top);
    // Chunks that were laid out while scrolling may still fall back to their estimated height.
    keepInPlace(element, 40, top);
    return element;
  }

  // Turns get their real height only when they are near the viewport. Keeps an element in position until the layout has been
  // stable for `frames` frames, or the user scrolls.
  let holdCount = 0;
  async function keepInPlace(element, frames, top) {
    holdCount += 1;
    const hold = holdCount;
    for (let stable = 0, frame = 0; stable < frames && frame < 80 && hold === holdCount && element.isConnected; frame += 1) {
      if (top === undefined) element.scrollIntoView({ block: "start" });
      else scrollBy({ top: switchOf(element).getBoundingClientRect().top - top, behavior: "instant" });
      const [oldTop, oldScroll] = [element.getBoundingClientRect().top, scrollY];
      // A hidden page gets no animation frames.
      if (document.hidden) return;
      await new Promise(requestAnimationFrame);
      const [moved, scrolled] = [element.getBoundingClientRect().top - oldTop, scrollY - oldScroll];
      // The element moved exactly as far as the window scrolled: the user or another script scrolled.
      if (Math.abs(moved) >= 1 && Math.abs(moved + scrolled) < 1) return;
      stable = Math.abs(moved) < 1 ? stable + 1 : 0;
    }
  }
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(kind, () => { holdCount += 1; }, { passive: true, capture: true });

  // After switching between branches the switch is at the same height as before.
  const switchOf = (element) => element.closest(".turn")?.querySelector(":scope > .fork-switch") || element;
  on("[data-switch]", "click", (event, link) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    try { sessionStorage.setItem("switch", String(link.closest(".fork-switch").getBoundingClientRect().top)); } catch { /* Without storage the turn is scrolled to the top. */ }
  });
  function takeSwitchTop() {
    let top = null;
    try {
      top = sessionStorage.getItem("switch");
      sessionStorage.removeItem("switch");
    } catch { /* No height was stored. */ }
    return top === null ? undefined : Number(top);
  }

  // Returns the parts of this file, without those of subagents, which are in other files.
  const parts = (root) => [...root.querySelectorAll("[data-line]")].filter((part) => !part.closest(".agent"));
  const findPart = (line) => parts(document.getElementById("main")).find((part) => Number(part.dataset.line) === line || Number(part.dataset.result) === line);
  const findPartBefore = (chunk, line) => parts(chunk).filter((part) => Number(part.dataset.line) < line).pop() || parts(chunk)[0];

  // Opens the branch that contains an entry, if the entry is not on this branch.
  async function openBranchOf(name) {
    const { base } = document.getElementById("main").dataset;
    const branch = `${base}?tip=${name}`;
    const exists = !location.search && !window.rethread.packed && await get(branch).then(() => true, () => false);
    if (exists) location.replace(`${branch}#${name}`);
    else notify(name.startsWith("L") ? "This line is not shown on this branch" : "There is no such turn on this branch");
  }

  async function followHash() {
    // The link of a search result names the matched words.
    const [name, encodedWords = ""] = location.hash.slice(1).split(":q=");
    if (!/^[tL]\d+$/.test(name)) return;
    const element = await show(name, takeSwitchTop());
    if (!element) { openBranchOf(name); return; }
    for (const old of document.querySelectorAll(".part.part-target")) old.classList.remove("part-target");
    // The line of a prompt is also the first line of its turn: highlight the prompt.
    const part = element.matches(".turn") && name.startsWith("L") ? element.querySelector(`.part[data-line="${name.slice(1)}"]`) : element;
    if (part && part.matches(".part")) {
      part.classList.add("part-target");
      if (part instanceof HTMLDetailsElement) part.open = true;
      if (encodedWords && window.rethread.highlightMatches) window.rethread.highlightMatches(part, parseWords(encodedWords));
    }
  }

  // Parses the matched words in a link. The link is untrusted input.
  function parseWords(encodedWords) {
    const decode = (word) => { try { return decodeURIComponent(word); } catch { return ""; } };
    return encodedWords.split("+").slice(0, 8).map(decode).filter((word) => word && word.length <= 80);
  }

  // Loads all pending chunks and texts before printing.
  const pendingContent = () => document.querySelectorAll("#main > .chunk-pending, #main details.more > [data-src]");
  async function print() {
    if (isPrinting) return;
    notify("Loading the whole session to print it…");
    isPrinting = true;
    try {
      for (const chunk of document.querySelectorAll("#main > .chunk-pending")) await load(chunk);
      for (const rest of document.querySelectorAll("#main details.more > [data-src]")) {
        // Collapsed content is not printed.
        if (!rest.parentElement.checkVisibility()) continue;
        await loadDetails(rest.parentElement);
        rest.parentElement.open = true;
      }
      await new Promise(requestAnimationFrame);
      window.print();
    } finally {
      isPrinting = false;
    }
  }
  on('[data-command="print"]', "click", print);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "p" || !pendingContent().length) return;
    event.preventDefault();
    print();
  });

  // Returns the turn that the user is reading: the first one in view.
  function currentTurn() {
    const turn = (element) => element.closest("#main > .chunk > .turn");
    // At the end of the page a turn named in the address cannot be scrolled to the top.
    const named = document.getElementById(location.hash.slice(1));
    const box = named?.matches(".turn") && named.getBoundingClientRect();
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    if (box && isAtEnd && box.top > 0 && box.top < innerHeight) return named;
    for (let height = 120; height < innerHeight; height += 60) {
      const visible = document.elementsFromPoint(innerWidth / 2, height).map(turn).find((element) => element?.dataset.turn);
      if (visible) return visible;
    }
    return null;
  }

  window.rethread.currentTurn = currentTurn;
  window.rethread.load = load;
  window.rethread.show = show;
  window.rethread.loadDetails = loadDetails;
  window.rethread.ready(() => {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base) return;
    observeChunks(main);
    if (main.lastElementChild?.matches(".chunk:not(.chunk-pending)")) rememberServedHtml(main.lastElementChild);
    addEventListener("hashchange", followHash);
    followHash();
  });

  // Steps from turn to turn. Keys may be pressed faster than turns are loaded.
  let target = null;
  const stepTurn = async (by) => {
    const turns = [...document.querySelectorAll("#main > .chunk > .turn[id], #main .turn-anchor")];
    if (!turns.length) return;
    const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const heights = turns.map((turn) => turn.getBoundingClientRect().top - top);
    let index = target && turns.findIndex((turn) => turn.id === target);
    if (index === null || index < 0) {
      const below = heights.findIndex((height) => height > 4);
      const current = heights.findIndex((height) => Math.abs(height) <= 4);
      // In the middle of a turn, one step back leads to the start of this turn.
      index = current >= 0 ? current : (below < 0 ? turns.length : below) - (by > 0 ? 1 : 0);
    }
    const next = turns[index + by];
    if (!next) return;
    target = next.id;
    await show(next.id);
    if (target === next.id) target = null;
  };
  const SESSION = "#main[data-base]";
  key("j", "next turn", () => void stepTurn(1), SESSION);
  key("k", "previous turn", () => void stepTurn(-1), SESSION);
  key("Escape", "", () => {
    const menu = document.querySelector(".menu[open]");
    if (!menu) return false;
    menu.open = false;
    menu.querySelector("summary").focus();
  }, SESSION);
  let expanded = [];
  key("o", "expand or collapse all tool calls and thinking in view", () => {
    // Expanded parts push others out of view; all of them are collapsed again.
    const toCollapse = expanded.filter((part) => part.isConnected && part.open);
    expanded = [];
    const all = toCollapse.length ? toCollapse : [...document.querySelectorAll("#main details.part")].filter((part) => {
      const box = part.getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    });
    if (!all.length) return false;
    const open = !all.some((part) => part.open);
    for (const part of all) part.open = open;
    if (open) expanded = all;
  }, SESSION);

  on('[data-command="result-file"]', "click", async (event, button) => {
    const file = button.closest(".result-file");
    try {
      const base = address(file, "result-file").replace(/\/agent\/.*(?=\/result-file$)/, "");
      file.after(parseHtml(await get(`${base}?name=${encodeURIComponent(file.dataset.resultFile)}`)));
      button.remove();
      delete file.dataset.resultFile;
    } catch {
      notify("The file does not exist any more");
    }
  });
  on('[data-command="copy-text"]', "click", (event, button) => copy(button.dataset.text, button.dataset.message));
  on('[data-command="copy"]', "click", async (event, button) => {
    try {
      await copy(await get(`${address(button, "copy")}${sessionOf(button).dataset.query}turn=${button.dataset.turn}&as=${button.dataset.as}`));
    } catch {
      notify("Copying failed");
    }
  });
  on('[data-command="link"]', "click", (event, button) => {
    copy(`${location.origin}${location.pathname}${location.search}#t${button.dataset.turn}`, "Copied the link");
  });
  on('[data-command="agents"]', "click", async (event, button) => {
    const list = document.getElementById("agents");
    list.hidden = !list.hidden;
    if (!list.firstChild) list.replaceChildren(parseHtml(await get(`${document.getElementById("main").dataset.base}/agents`)));
    button.setAttribute("aria-expanded", String(!list.hidden));
  });

  // Shows an image at full size.
  on('[data-command="image"]', "click", (event, button) => {
    const dialog = document.createElement("dialog");
    dialog.className = "lightbox";
    dialog.setAttribute("aria-label", "Image");
    const image = document.createElement("img");
    image.src = button.querySelector("img").src;
    image.alt = "image";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "bar-button";
    close.setAttribute("aria-label", "Close");
    close.textContent = "×";
    dialog.append(image, close);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
})();
