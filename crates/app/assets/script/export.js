"use strict";
// An exported page: its fragments are compressed in inert `script` elements of the page itself.
(() => {
  const { rethread } = window;
  rethread.packed = true;
  let packedByName = null;
  const findPacked = (name) => {
    // The rest of a long text is next to the text itself.
    if (name.startsWith("text=")) return document.querySelector(`script.packed[data-text="${CSS.escape(name.slice(5))}"]`);
    if (!packedByName) {
      packedByName = new Map();
      for (const script of document.querySelectorAll("script.packed")) {
        const { chunk, call, name } = script.dataset;
        packedByName.set(chunk !== undefined ? `number=${chunk}` : call !== undefined ? `call=${call}` : `name=${name}`, script);
      }
    }
    return packedByName.get(name);
  };

  async function unpackText(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).text();
  }

  // Replaces the fetch of a served page: fragments are unpacked from the page.
  rethread.get = async (address) => {
    const params = new URLSearchParams(address.slice(address.indexOf("?")));
    const [name] = [...params].map(([key, value]) => `${key}=${value}`);
    const script = findPacked(name);
    if (!script) throw new Error(`the page contains no ${name}`);
    return unpackText(script.textContent);
  };

  // Returns the number of the packed chunk that contains a line, or null.
  rethread.findChunk = async (main, name) => {
    const line = Number(name.slice(1));
    const contains = (range) => {
      const [first, last] = range.split("-").map(Number);
      return first <= line && line <= (last ?? first);
    };
    const chunk = [...main.querySelectorAll(":scope > [data-lines]")].find((element) => element.dataset.lines.split(" ").some(contains));
    return name.startsWith("L") && chunk ? chunk.dataset.chunk : null;
  };

  // The browser finds and prints only unpacked content: chunks, subagents in their slots, and the rest of long texts.
  let unpacking = null;
  const pendingChunks = () => [...document.querySelectorAll(".chunk-pending")];
  const pendingAgents = () => [...document.querySelectorAll(".agent-slot:empty")].filter((slot) => findPacked(`call=${slot.dataset.call}`));
  const pendingTexts = () => [...document.querySelectorAll("#main details.more > [data-src]")];
  const pending = () => [...pendingChunks(), ...pendingAgents(), ...pendingTexts()];
  async function unpackAll() {
    // Unpacked content may contain more packed content. Elements that failed are not tried again.
    const tried = new Set();
    for (let next = pending(); next.length; next = pending().filter((element) => !tried.has(element))) {
      for (const element of next) {
        tried.add(element);
        if (element.matches(".chunk-pending")) { await rethread.load(element); continue; }
        const details = element.closest("details");
        await rethread.loadDetails(details);
        // Collapsed content is neither found nor printed.
        if (details.matches(".more")) details.open = true;
      }
    }
    unpacking = null;
    button().hidden = !pending().length;
    rethread.notify(pending().length ? "Some parts could not be unpacked" : "Everything is unpacked");
  }
  const button = () => document.querySelector('[data-command="unpack"]');
  rethread.on('[data-command="unpack"]', "click", () => {
    button().hidden = true;
    unpacking = unpacking || unpackAll();
  });
  document.addEventListener("keydown", async (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "p" && pending().length) {
      // Packed content cannot be printed.
      event.preventDefault();
      event.stopImmediatePropagation();
      unpacking = unpacking || unpackAll();
      await unpacking;
      print();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "f" && !unpacking && pending().length) {
      rethread.notify("Parts of this page are packed. Choose “Unpack all” to search them with the browser");
    }
  });
  rethread.ready(() => { button().hidden = !pending().length; });
})();
