"use strict";
// A live session: new turns appear at the end, and the text in view does not move.
(() => {
  const { on, get, ready, parseHtml, notify } = window.rethread;

  ready(() => {
    const main = document.getElementById("main");
    if (!main || !main.dataset.actions) return;
    const follow = document.querySelector('input[name="follow"]');
    const newest = document.querySelector('[data-command="newest"]');
    const disconnected = document.querySelector(".follow-disconnected");
    let isUpdating = false;
    let mustUpdateAgain = false;

    // Replaces an element only if its markup changed, so that expanded elements stay expanded.
    function updateElement(old, current) {
      if (old.outerHTML === current.outerHTML || old.servedHtml === current.outerHTML) return;
      const isSameTurn = old.matches(".turn") && current.matches(".turn") && old.dataset.turn === current.dataset.turn && old.dataset.line === current.dataset.line;
      if (!isSameTurn) { current.servedHtml = current.outerHTML; old.replaceWith(current); return; }
      updateChildren(old, [...current.children]);
    }
    function updateChildren(parent, children) {
      const oldChildren = [...parent.children];
      for (const [index, child] of children.entries()) {
        const old = oldChildren[index];
        if (!old) { child.servedHtml = child.outerHTML; parent.append(child); } else if (old.dataset.line === child.dataset.line && old instanceof HTMLDetailsElement && old.open) {
          if (old.dataset.result === child.dataset.result) continue;
          // The call that the user expanded has a result now.
          child.servedHtml = child.outerHTML;
          child.open = true;
          old.replaceWith(child);
        } else updateElement(old, child);
      }
      for (const removed of oldChildren.slice(children.length)) removed.remove();
    }

    // Scrolls to the end. Repeats it because chunks near the end still get their real height.
    async function scrollToEnd() {
      const last = [...main.querySelectorAll(":scope > .chunk")].pop();
      if (last) await window.rethread.load(last);
      for (let round = 0; round < 4; round += 1) {
        scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
        await new Promise(requestAnimationFrame);
      }
    }

    // Updates the header above the turns: turn count, resume banner, title.
    async function updateHeader() {
      const markup = parseHtml(await get(main.dataset.base + main.dataset.query));
      const current = markup.querySelector(".session-header");
      const old = document.querySelector(".session-header");
      // Keep the header while its list of subagents is open.
      if (!current || !old || old.outerHTML === current.outerHTML || old.querySelector("#agents > *")) return;
      const focused = [...old.querySelectorAll("a, button")].indexOf(document.activeElement);
      old.replaceWith(current);
      if (focused >= 0) [...current.querySelectorAll("a, button")][focused]?.focus({ preventScroll: true });
      document.title = `${current.querySelector("h1").textContent} · rethread`;
    }

    // Reloads the page because entries before its end have changed (for example after a rewind). While a dialog or a
    // presentation is open nothing is reloaded; closing it checks again.
    function reloadPage() {
      const dialog = document.querySelector("dialog[open]");
      if (dialog) dialog.addEventListener("close", update, { once: true });
      if (dialog || document.querySelector(".present")) return;
      const turn = window.rethread.currentTurn()?.dataset.turn;
      const hash = turn && scrollY > 0 ? `#t${turn}` : "";
      history.replaceState({ follow: follow.checked, hash }, "", location.pathname + location.search + hash);
      history.scrollRestoration = "manual";
      location.reload();
    }

    async function update() {
      if (isUpdating) { mustUpdateAgain = true; return; }
      isUpdating = true;
      try {
        const chunks = [...main.querySelectorAll(":scope > .chunk")];
        const last = chunks.length ? chunks[chunks.length - 1] : null;
        const from = last ? Number(last.dataset.chunk) : 0;
        const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
        const response = await fetch(`${main.dataset.base}/chunk${main.dataset.query}number=${from}`, { headers: { "x-rethread": "fragment" } });
        const header = (name) => response.headers.get(name);
        // If the session was deleted, keep what is on the page.
        if (header("x-chunks") === null || !last && response.status !== 200) return;
        if (response.status !== 200 || header("x-prefix-hash") !== main.dataset.prefixHash) { reloadPage(); return; }
        main.dataset.prefixHash = header("x-last-prefix-hash");
        const count = Number(header("x-chunks"));
        const markup = parseHtml(await response.text());
        const lastText = () => last && last.lastElementChild && last.lastElementChild.textContent;
        const oldLastText = lastText();
        if (last && "pending" in last.dataset) { /* It is loaded when it comes near the viewport. */ }
        else if (last) updateChildren(last, [...markup.children]);
        else {
          const chunk = document.createElement("section");
          chunk.className = "chunk";
          chunk.dataset.chunk = "0";
          chunk.append(markup);
          main.replaceChildren(chunk);
        }
        for (let number = from + 1; number < count; number += 1) {
          const chunk = document.createElement("section");
          chunk.className = "chunk chunk-pending chunk-2";
          chunk.dataset.chunk = String(number);
          chunk.dataset.pending = "";
          main.append(chunk);
          await window.rethread.load(chunk);
        }
        if (follow.checked) await scrollToEnd();
        else if (!isAtEnd && (count > from + 1 || lastText() !== oldLastText)) newest.hidden = false;
        await updateHeader();
        document.dispatchEvent(new CustomEvent("rethread:grown"));
      } catch {
        notify("The session has new entries, but they could not be loaded");
      } finally {
        isUpdating = false;
        if (mustUpdateAgain) { mustUpdateAgain = false; update(); }
      }
    }

    // A hidden page closes its event stream: a browser allows six connections to the server over all pages.
    let events = null;
    const openEvents = () => {
      if (events) return;
      events = new EventSource(`${main.dataset.base}/events?bytes=${main.dataset.bytes}`);
      events.addEventListener("grown", update);
      events.addEventListener("open", () => { disconnected.hidden = true; });
      events.addEventListener("error", () => { disconnected.hidden = false; });
    };
    const closeEvents = () => {
      if (events) events.close();
      events = null;
    };
    const followVisibility = () => {
      if (document.hidden) { closeEvents(); return; }
      if (!events) { openEvents(); update(); }
    };
    if (!document.hidden) openEvents();
    document.addEventListener("visibilitychange", followVisibility);
    addEventListener("pagehide", closeEvents);
    addEventListener("pageshow", followVisibility);
    // After a reload scroll back to the turn that the user was reading, or to the end if it does not exist any more.
    if (history.state) {
      follow.checked = Boolean(history.state.follow);
      const { hash } = history.state;
      history.replaceState(null, "");
      // Until the page is loaded the browser itself would restore the scroll position of the old page.
      const restoreDefault = () => setTimeout(() => { history.scrollRestoration = "auto"; }, 1000);
      if (document.readyState === "complete") restoreDefault(); else addEventListener("load", restoreDefault, { once: true });
      if (follow.checked || hash && !document.getElementById(hash.slice(1))) scrollToEnd();
    }
    window.rethread.key("End", "scroll to the end", () => void scrollToEnd());
    on('[data-command="newest"]', "click", () => {
      newest.hidden = true;
      scrollToEnd();
    });
    let lastScroll = scrollY;
    let isScheduled = false;
    const hideNewest = () => {
      isScheduled = false;
      if (distanceToEnd() <= 80) newest.hidden = true;
    };
    const distanceToEnd = () => document.documentElement.scrollHeight - innerHeight - scrollY;
    addEventListener("scroll", () => {
      // Scrolling up stops following.
      if (scrollY < lastScroll && distanceToEnd() > innerHeight / 2) follow.checked = false;
      lastScroll = scrollY;
      if (!isScheduled) window.rethread.idle(hideNewest);
      isScheduled = true;
    }, { passive: true });
    follow.addEventListener("change", () => { if (follow.checked) scrollToEnd(); });
    document.addEventListener("rethread:changed", update);
    document.addEventListener("rethread:presented", update);
  });
})();
