"use strict";
// An exported page: its pieces are packed in the page itself, in elements that nothing runs.
(() => {
  const { rethread } = window;
  rethread.packed = true;
  let packs = null;
  const pack = (name) => {
    // The rest of long words stands beside them.
    if (name.startsWith("words=")) return document.querySelector(`script.packed[data-words="${CSS.escape(name.slice(6))}"]`);
    if (!packs) {
      packs = new Map();
      for (const one of document.querySelectorAll("script.packed")) {
        const { leaf, call, name } = one.dataset;
        packs.set(leaf !== undefined ? `no=${leaf}` : call !== undefined ? `call=${call}` : `name=${name}`, one);
      }
    }
    return packs.get(name);
  };

  async function unpack(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).text();
  }

  // Where a page of the server fetches a piece, this one unpacks it.
  rethread.get = async (address) => {
    const asked = new URLSearchParams(address.slice(address.indexOf("?")));
    const [name] = [...asked].map(([key, value]) => `${key}=${value}`);
    const found = pack(name);
    if (!found) throw new Error(`nothing is packed as ${name}`);
    return unpack(found.textContent);
  };

  // Says on which packed leaf a line stands.
  rethread.leafOf = async (main, name) => {
    const line = Number(name.slice(1));
    const holds = (range) => {
      const [first, last] = range.split("-").map(Number);
      return first <= line && line <= (last ?? first);
    };
    const leaf = [...main.querySelectorAll(":scope > [data-lines]")].find((one) => one.dataset.lines.split(" ").some(holds));
    return name.startsWith("L") && leaf ? leaf.dataset.leaf : null;
  };

  // The browser finds and prints only what is unpacked: leaves, and subagents in the places that their calls left for them.
  let unpacking = null;
  const later = () => [...document.querySelectorAll(".leaf-later")];
  const agents = () => [...document.querySelectorAll(".agent-here:empty")].filter((one) => pack(`call=${one.dataset.call}`));
  const words = () => [...document.querySelectorAll("#main details.more > [data-src]")];
  const packed = () => [...later(), ...agents(), ...words()];
  async function all() {
    // What is unpacked may hold more; what fails is not tried again.
    const tried = new Set();
    for (let next = packed(); next.length; next = packed().filter((one) => !tried.has(one))) {
      for (const one of next) {
        tried.add(one);
        if (one.matches(".leaf-later")) { await rethread.load(one); continue; }
        const details = one.closest("details");
        await rethread.unfold(details);
        // What is folded is neither found nor printed.
        if (details.matches(".more")) details.open = true;
      }
    }
    unpacking = null;
    button().hidden = !packed().length;
    rethread.say(packed().length ? "Some parts could not be unpacked" : "Everything is unpacked");
  }
  const button = () => document.querySelector('[data-do="unpack"]');
  rethread.on('[data-do="unpack"]', "click", () => {
    button().hidden = true;
    unpacking = unpacking || all();
  });
  document.addEventListener("keydown", async (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "p" && packed().length) {
      // What is packed cannot be printed.
      event.preventDefault();
      event.stopImmediatePropagation();
      unpacking = unpacking || all();
      await unpacking;
      print();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "f" && !unpacking && packed().length) {
      rethread.say("Parts of this page are packed: “Unpack all” above lets the browser find in them");
    }
  });
  rethread.ready(() => { button().hidden = !packed().length; });
})();
