"use strict";
// A session: leaves are fetched when they come near, bodies when they are opened; links, copies, pictures.
(() => {
  const { on, key, get, elements, say, copy } = window.rethread;
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) load(entry.target);
  }, { rootMargin: "1500px 0px" });
  // What is read long ago is given back: a page of a hundred thousand elements scrolls badly.
  const far = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      // What was fetched from afar, as for a presentation, is still to be looked at.
      if (isIntersecting) target.seen = true;
      else if (target.seen) giveBack(target, boundingClientRect.height);
    }
  }, { rootMargin: "24000px 0px" });

  const home = (element) => element.closest("[data-base]");
  const address = (element, piece) => `${home(element).dataset.base}/${piece}`;

  // Inside another page the turns of a subagent have no names of their own: links to them lead to its own page.
  function nameless(markup, place) {
    if (!place || place.dataset.leaf && !place.closest(".agent")) return markup;
    const { base } = (place.dataset.base ? place : home(place)).dataset;
    for (const one of markup.querySelectorAll("[id]")) one.removeAttribute("id");
    for (const link of markup.querySelectorAll('a[href^="#"]')) link.setAttribute("href", base + link.getAttribute("href"));
    return markup;
  }

  // Fetches a leaf and puts it in the place that was kept for it.
  async function load(leaf) {
    if (!("later" in leaf.dataset)) return leaf;
    if (!leaf.loading) {
      leaf.dataset.loading = "";
      const query = home(leaf).dataset.query;
      leaf.loading = get(`${address(leaf, "leaf")}${query}no=${leaf.dataset.leaf}`).then((markup) => {
        near.unobserve(leaf);
        delete leaf.dataset.later;
        delete leaf.dataset.loading;
        leaf.classList.remove("leaf-later");
        leaf.removeAttribute("style");
        leaf.place = [...leaf.childNodes];
        leaf.replaceChildren(nameless(elements(markup), leaf));
        leaf.unfolded = unfoldedIn(leaf);
        remember(leaf);
        leaf.seen = false;
        watch(leaf);
        if (leaf.parentElement.id === "main" && !window.rethread.packed) far.observe(leaf);
      }, () => { leaf.loading = null; delete leaf.dataset.loading; });
    }
    await leaf.loading;
    return leaf;
  }

  // What the server said of the last parts: a session that grows tells them again, and what somebody unfolded there is no news.
  function remember(leaf) {
    if (leaf.nextElementSibling) return;
    for (const part of leaf.querySelectorAll(":scope > .turn > *")) part.renewed = part.outerHTML;
  }

  const unfoldedIn = (leaf) => leaf.querySelectorAll("details[open]").length;

  // Makes a leaf what it was before it came near, as high as it became; but not one in which somebody did something.
  let printing = false;
  function giveBack(leaf, height) {
    const used = printing || unfoldedIn(leaf) !== leaf.unfolded || leaf.contains(document.activeElement)
      || leaf.querySelector(".here") || getSelection().containsNode(leaf, true);
    if (used || !leaf.place.length || !leaf.nextElementSibling || !height) return;
    far.unobserve(leaf);
    leaf.loading = null;
    leaf.dataset.later = "";
    leaf.classList.add("leaf-later");
    leaf.style.height = `${height}px`;
    leaf.replaceChildren(...leaf.place);
    near.observe(leaf);
  }

  function watch(root) {
    for (const leaf of root.querySelectorAll(".leaf-later")) near.observe(leaf);
  }

  // Fetches something into its place, once; `data-loading` stands there until the answer is in.
  function fill(place, source, put) {
    if (!place.loading) {
      place.dataset.loading = "";
      place.loading = get(source).then(put).finally(() => {
        delete place.dataset.loading;
        place.loading = null;
      });
    }
    return place.loading;
  }

  // Fetches the body of a call once it is opened, and the subagent that it started.
  async function unfold(details) {
    const body = details.querySelector(":scope > [data-src]");
    if (body) {
      try {
        await fill(body, body.dataset.src, (markup) => {
          body.replaceChildren(elements(markup));
          delete body.dataset.src;
        });
      } catch {
        body.textContent = "It could not be loaded: open it again.";
        return;
      }
    }
    for (const kept of details.querySelectorAll(".kept[data-kept]")) {
      if (kept.querySelector("button")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button";
      button.dataset.do = "kept";
      button.textContent = "Show all of it";
      kept.append(" ", button);
    }
    const agent = details.querySelector(".agent-here:empty");
    if (agent && home(details)) {
      const source = `${address(details, "call").replace(/\/agent\/.*(?=\/call$)/, "")}?call=${encodeURIComponent(agent.dataset.call)}`;
      try {
        await fill(agent, source, (text) => {
          const markup = elements(text);
          agent.replaceChildren(nameless(markup, markup.querySelector("[data-base]")));
          watch(agent);
        });
      } catch {
        agent.dataset.none = "";
      }
    }
  }
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details instanceof HTMLDetailsElement && details.open) unfold(details);
    if (details instanceof HTMLDetailsElement && details.open && details.matches(".menu")) {
      for (const other of document.querySelectorAll(".menu[open]")) if (other !== details) other.open = false;
    }
  }, true);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (!menu.contains(event.target) || event.target.closest(".menu-list :is(button, a)")) menu.open = false;
    }
  });

  // Says on which leaf an entry stands; a page without a server knows by itself.
  const leafOf = window.rethread.leafOf || (async (main, name) => {
    const answer = await fetch(`${main.dataset.base}/leaf${main.dataset.query}at=${encodeURIComponent(name)}`, { headers: { "x-rethread": "piece" } });
    return answer.ok ? answer.headers.get("x-leaf") : null;
  });

  // Brings a turn or a line into view, wherever it is: to the top, or to where somebody looks.
  async function show(name, top) {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base) return false;
    const line = /^L(\d+)$/.exec(name);
    const find = () => (line ? at(Number(line[1])) : document.getElementById(name));
    let element = find();
    if (!element || element.matches(".spot")) {
      const spot = element && element.closest(".leaf-later");
      if (spot) await load(spot);
      // Every turn of this way has its place in the page; lines do not.
      else if (!line) return false;
      else {
        const no = await leafOf(main, name);
        if (no === null) return false;
        const leaf = await load(main.querySelector(`:scope > [data-leaf="${Number(no)}"]`));
        // What is not drawn for itself stands behind something that is.
        element = find() || line && nearest(leaf, Number(line[1]));
      }
      element = element && !element.matches(".spot") ? element : find();
    }
    if (!element) return false;
    for (let up = element; up; up = up.parentElement) if (up instanceof HTMLDetailsElement && up !== element) up.open = true;
    await hold(element, 4, top);
    // What was drawn on the way may still take its guessed height again.
    hold(element, 40, top);
    return element;
  }

  // Turns get their real height only when they come near: an element is held in its place until nothing moves, or somebody does.
  let held = 0;
  async function hold(element, frames, place) {
    held += 1;
    const mine = held;
    for (let still = 0, round = 0; still < frames && round < 80 && mine === held && element.isConnected; round += 1) {
      if (place === undefined) element.scrollIntoView({ block: "start" });
      else scrollBy({ top: switchOf(element).getBoundingClientRect().top - place, behavior: "instant" });
      const [top, from] = [element.getBoundingClientRect().top, scrollY];
      // Nothing is drawn where nobody looks.
      if (document.hidden) return;
      await new Promise(requestAnimationFrame);
      const [moved, scrolled] = [element.getBoundingClientRect().top - top, scrollY - from];
      // It went as far as the window went: that was somebody else.
      if (Math.abs(moved) >= 1 && Math.abs(moved + scrolled) < 1) return;
      still = Math.abs(moved) < 1 ? still + 1 : 0;
    }
  }
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(kind, () => { held += 1; }, { passive: true, capture: true });

  // Who goes from branch to branch finds the switch where it was.
  const switchOf = (element) => element.closest(".turn")?.querySelector(":scope > .switch") || element;
  on("[data-switch]", "click", (event, link) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    try { sessionStorage.setItem("switch", String(link.closest(".switch").getBoundingClientRect().top)); } catch { /* Then it is at the top. */ }
  });
  function switched() {
    let place = null;
    try {
      place = sessionStorage.getItem("switch");
      sessionStorage.removeItem("switch");
    } catch { /* Nothing was kept. */ }
    return place === null ? undefined : Number(place);
  }

  // The parts that were told from lines of this file; those of subagents stand in other files.
  const parts = (place) => [...place.querySelectorAll("[data-line]")].filter((part) => !part.closest(".agent"));
  const at = (line) => parts(document.getElementById("main")).find((part) => Number(part.dataset.line) === line || Number(part.dataset.result) === line);
  const nearest = (leaf, line) => parts(leaf).filter((part) => Number(part.dataset.line) < line).pop() || parts(leaf)[0];

  // What is not on this branch is shown on its own, if there is one.
  async function elsewhere(name) {
    const { base } = document.getElementById("main").dataset;
    const there = `${base}?tip=${name}`;
    const found = !location.search && !window.rethread.packed && await get(there).then(() => true, () => false);
    if (found) location.replace(`${there}#${name}`);
    else say(name.startsWith("L") ? "This line is not told on this branch" : "There is no such turn on this branch");
  }

  async function follow() {
    // A hit of a search says what was looked for.
    const [name, sought = ""] = location.hash.slice(1).split(":q=");
    if (!/^[tL]\d+$/.test(name)) return;
    const element = await show(name, switched());
    if (!element) { elsewhere(name); return; }
    for (const old of document.querySelectorAll(".part.here")) old.classList.remove("here");
    // A turn begins with the line of its prompt, and it is the prompt that is meant.
    const part = element.matches(".turn") && name.startsWith("L") ? element.querySelector(`.part[data-line="${name.slice(1)}"]`) : element;
    if (part && part.matches(".part")) {
      part.classList.add("here");
      if (part instanceof HTMLDetailsElement) part.open = true;
      if (sought && window.rethread.point) window.rethread.point(part, words(sought));
    }
  }

  // Reads the words that an address says were found; whoever made it may have written anything.
  function words(sought) {
    const read = (word) => { try { return decodeURIComponent(word); } catch { return ""; } };
    return sought.split("+").slice(0, 8).map(read).filter((word) => word && word.length <= 80);
  }

  // What is not there cannot be printed: everything is fetched first.
  const missing = () => document.querySelectorAll("#main > .leaf-later, #main details.more > [data-src]");
  async function print() {
    if (printing) return;
    say("Fetching everything to print it…");
    printing = true;
    try {
      for (const leaf of document.querySelectorAll("#main > .leaf-later")) await load(leaf);
      for (const rest of document.querySelectorAll("#main details.more > [data-src]")) {
        // What is folded is not printed, either.
        if (!rest.parentElement.checkVisibility()) continue;
        await unfold(rest.parentElement);
        rest.parentElement.open = true;
      }
      await new Promise(requestAnimationFrame);
      window.print();
    } finally {
      printing = false;
    }
  }
  on('[data-do="print"]', "click", print);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "p" || !missing().length) return;
    event.preventDefault();
    print();
  });

  // Returns the turn that is read: the first one in view.
  function reading() {
    const turn = (element) => element.closest("#main > .leaf > .turn");
    // At the end of the page, turns that are named cannot come to its top.
    const named = document.getElementById(location.hash.slice(1));
    const box = named?.matches(".turn") && named.getBoundingClientRect();
    const ends = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    if (box && ends && box.top > 0 && box.top < innerHeight) return named;
    for (let height = 120; height < innerHeight; height += 60) {
      const found = document.elementsFromPoint(innerWidth / 2, height).map(turn).find((one) => one?.dataset.turn);
      if (found) return found;
    }
    return null;
  }

  window.rethread.reading = reading;
  window.rethread.load = load;
  window.rethread.show = show;
  window.rethread.unfold = unfold;
  window.rethread.watch = watch;
  window.rethread.ready(() => {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base) return;
    watch(main);
    if (main.lastElementChild?.matches(".leaf:not(.leaf-later)")) remember(main.lastElementChild);
    addEventListener("hashchange", follow);
    follow();
  });

  // Turns one after the other; keys may come faster than turns.
  let going = null;
  const step = async (by) => {
    const turns = [...document.querySelectorAll("#main > .leaf > .turn[id], #main .spot")];
    if (!turns.length) return;
    const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const heights = turns.map((turn) => turn.getBoundingClientRect().top - top);
    let at = going && turns.findIndex((turn) => turn.id === going);
    if (at === null || at < 0) {
      const below = heights.findIndex((height) => height > 4);
      const here = heights.findIndex((height) => Math.abs(height) <= 4);
      // Between two turns, one back leads to the beginning of the one that is read.
      at = here >= 0 ? here : (below < 0 ? turns.length : below) - (by > 0 ? 1 : 0);
    }
    const next = turns[at + by];
    if (!next) return;
    going = next.id;
    await show(next.id);
    if (going === next.id) going = null;
  };
  const HERE = "#main[data-base]";
  key("j", "next turn", () => void step(1), HERE);
  key("k", "previous turn", () => void step(-1), HERE);
  key("Escape", "", () => {
    const menu = document.querySelector(".menu[open]");
    if (!menu) return false;
    menu.open = false;
    menu.querySelector("summary").focus();
  }, HERE);
  let unfolded = [];
  key("o", "unfold or fold all calls and thoughts in view", () => {
    // What was unfolded pushes the rest out of view, and is folded all the same.
    const again = unfolded.filter((one) => one.isConnected && one.open);
    unfolded = [];
    const all = again.length ? again : [...document.querySelectorAll("#main details.part")].filter((one) => {
      const box = one.getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    });
    if (!all.length) return false;
    const open = !all.some((one) => one.open);
    for (const one of all) one.open = open;
    if (open) unfolded = all;
  }, HERE);

  on('[data-do="kept"]', "click", async (event, button) => {
    const kept = button.closest(".kept");
    try {
      const base = address(kept, "kept").replace(/\/agent\/.*(?=\/kept$)/, "");
      kept.after(elements(await get(`${base}?name=${encodeURIComponent(kept.dataset.kept)}`)));
      button.remove();
      delete kept.dataset.kept;
    } catch {
      say("The file is not there any more");
    }
  });
  on('[data-do="copy-text"]', "click", (event, button) => copy(button.dataset.text, button.dataset.said));
  on('[data-do="copy"]', "click", async (event, button) => {
    try {
      await copy(await get(`${address(button, "copy")}${home(button).dataset.query}turn=${button.dataset.turn}&as=${button.dataset.as}`));
    } catch {
      say("It could not be copied");
    }
  });
  on('[data-do="link"]', "click", (event, button) => {
    copy(`${location.origin}${location.pathname}${location.search}#t${button.dataset.turn}`, "Copied the link");
  });
  on('[data-do="agents"]', "click", async (event, button) => {
    const place = document.getElementById("agents");
    place.hidden = !place.hidden;
    if (!place.firstChild) place.replaceChildren(elements(await get(`${document.getElementById("main").dataset.base}/agents`)));
    button.setAttribute("aria-expanded", String(!place.hidden));
  });

  // A picture, large.
  on('[data-do="picture"]', "click", (event, button) => {
    const dialog = document.createElement("dialog");
    dialog.className = "lightbox";
    dialog.setAttribute("aria-label", "Picture");
    const picture = document.createElement("img");
    picture.src = button.querySelector("img").src;
    picture.alt = "picture";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "bar-button";
    close.setAttribute("aria-label", "Close");
    close.textContent = "×";
    dialog.append(picture, close);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
})();
