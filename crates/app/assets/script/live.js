"use strict";
// A session that grows: new turns appear at its end, and nothing moves while one reads.
(() => {
  const { on, get, ready, elements, say } = window.rethread;

  ready(() => {
    const main = document.getElementById("main");
    if (!main || !main.dataset.key) return;
    const follow = document.querySelector('input[name="follow"]');
    const newest = document.querySelector('[data-do="newest"]');
    const lost = document.querySelector(".follow-lost");
    let busy = false;
    let again = false;

    // Keeps what is the same, so that what is open stays open.
    function renew(old, now) {
      if (old.outerHTML === now.outerHTML || old.renewed === now.outerHTML) return;
      const alike = old.matches(".turn") && now.matches(".turn") && old.dataset.turn === now.dataset.turn && old.dataset.line === now.dataset.line;
      if (!alike) { now.renewed = now.outerHTML; old.replaceWith(now); return; }
      merge(old, [...now.children]);
    }
    function merge(place, children) {
      const there = [...place.children];
      for (const [no, child] of children.entries()) {
        const old = there[no];
        if (!old) { child.renewed = child.outerHTML; place.append(child); } else if (old.dataset.line === child.dataset.line && old instanceof HTMLDetailsElement && old.open) {
          if (old.dataset.result === child.dataset.result) continue;
          // What somebody looks at has its result now.
          child.renewed = child.outerHTML;
          child.open = true;
          old.replaceWith(child);
        } else renew(old, child);
      }
      for (const rest of there.slice(children.length)) rest.remove();
    }

    // Goes to the end, also while what is near it still gets its real height.
    async function toEnd() {
      const last = [...main.querySelectorAll(":scope > .leaf")].pop();
      if (last) await window.rethread.load(last);
      for (let round = 0; round < 4; round += 1) {
        scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
        await new Promise(requestAnimationFrame);
      }
    }

    // What is said above the turns, anew: how many there are, what a client will load, how it is called.
    async function renewHead() {
      const markup = elements(await get(main.dataset.base + main.dataset.query));
      const now = markup.querySelector(".session-top");
      const old = document.querySelector(".session-top");
      // A list that somebody opened there stays.
      if (!now || !old || old.outerHTML === now.outerHTML || old.querySelector("#agents > *")) return;
      const focused = [...old.querySelectorAll("a, button")].indexOf(document.activeElement);
      old.replaceWith(now);
      if (focused >= 0) [...now.querySelectorAll("a, button")][focused]?.focus({ preventScroll: true });
      document.title = `${now.querySelector("h1").textContent} · rethread`;
    }

    // What stands before the end is not what this page shows, as after a rewind: only a new page can tell it. Nobody is torn away
    // from a dialog or a presentation: it is looked at again when that is closed.
    function anew() {
      const dialog = document.querySelector("dialog[open]");
      if (dialog) dialog.addEventListener("close", grow, { once: true });
      if (dialog || document.querySelector(".present")) return;
      const here = window.rethread.reading()?.dataset.turn;
      const hash = here && scrollY > 0 ? `#t${here}` : "";
      history.replaceState({ follow: follow.checked, hash }, "", location.pathname + location.search + hash);
      history.scrollRestoration = "manual";
      location.reload();
    }

    async function grow() {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const leaves = [...main.querySelectorAll(":scope > .leaf")];
        const last = leaves.length ? leaves[leaves.length - 1] : null;
        const from = last ? Number(last.dataset.leaf) : 0;
        const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
        const answer = await fetch(`${main.dataset.base}/leaf${main.dataset.query}no=${from}`, { headers: { "x-rethread": "piece" } });
        const told = (name) => answer.headers.get(name);
        // Where the session is gone, what was read stays.
        if (told("x-leaves") === null || !last && answer.status !== 200) return;
        if (answer.status !== 200 || told("x-before") !== main.dataset.before) { anew(); return; }
        main.dataset.before = told("x-before-last");
        const count = Number(told("x-leaves"));
        const markup = elements(await answer.text());
        const ending = () => last && last.lastElementChild && last.lastElementChild.textContent;
        const ended = ending();
        if (last && "later" in last.dataset) { /* It is fetched when it comes near. */ }
        else if (last) merge(last, [...markup.children]);
        else {
          const leaf = document.createElement("section");
          leaf.className = "leaf";
          leaf.dataset.leaf = "0";
          leaf.append(markup);
          main.replaceChildren(leaf);
        }
        for (let no = from + 1; no < count; no += 1) {
          const leaf = document.createElement("section");
          leaf.className = "leaf leaf-later leaf-2";
          leaf.dataset.leaf = String(no);
          leaf.dataset.later = "";
          main.append(leaf);
          await window.rethread.load(leaf);
        }
        if (follow.checked) await toEnd();
        else if (!end && (count > from + 1 || ending() !== ended)) newest.hidden = false;
        await renewHead();
        document.dispatchEvent(new CustomEvent("rethread:grown"));
      } catch {
        say("The session grew, but could not be read");
      } finally {
        busy = false;
        if (again) { again = false; grow(); }
      }
    }

    // A page that nobody sees listens no more: of all pages together, a browser keeps six connections.
    let events = null;
    const listen = () => {
      if (events) return;
      events = new EventSource(`${main.dataset.base}/events?bytes=${main.dataset.bytes}`);
      events.addEventListener("grown", grow);
      events.addEventListener("open", () => { lost.hidden = true; });
      events.addEventListener("error", () => { lost.hidden = false; });
    };
    const rest = () => {
      if (events) events.close();
      events = null;
    };
    const attend = () => {
      if (document.hidden) { rest(); return; }
      if (!events) { listen(); grow(); }
    };
    if (!document.hidden) listen();
    document.addEventListener("visibilitychange", attend);
    addEventListener("pagehide", rest);
    addEventListener("pageshow", attend);
    // After a rewind one goes on reading where one was; where that is no more, at the end.
    if (history.state) {
      follow.checked = Boolean(history.state.follow);
      const { hash } = history.state;
      history.replaceState(null, "");
      // The browser itself would go back to where the old page was, until this one is whole.
      const whole = () => setTimeout(() => { history.scrollRestoration = "auto"; }, 1000);
      if (document.readyState === "complete") whole(); else addEventListener("load", whole, { once: true });
      if (follow.checked || hash && !document.getElementById(hash.slice(1))) toEnd();
    }
    window.rethread.key("End", "to the end", () => void toEnd());
    on('[data-do="newest"]', "click", () => {
      newest.hidden = true;
      toEnd();
    });
    let height = scrollY;
    let scrolled = false;
    const look = () => {
      scrolled = false;
      if (below() <= 80) newest.hidden = true;
    };
    const below = () => document.documentElement.scrollHeight - innerHeight - scrollY;
    addEventListener("scroll", () => {
      // Who goes up wants to read.
      if (scrollY < height && below() > innerHeight / 2) follow.checked = false;
      height = scrollY;
      if (!scrolled) window.rethread.idle(look);
      scrolled = true;
    }, { passive: true });
    follow.addEventListener("change", () => { if (follow.checked) toEnd(); });
    document.addEventListener("rethread:changed", grow);
    document.addEventListener("rethread:presented", grow);
  });
})();
