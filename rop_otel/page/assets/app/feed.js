// Where the views get their data: the blocks of this file.
"use strict";
(function (rop) {
  const element = (name) => document.querySelector(`script[data-block="${name}"]`);
  const kept = new Map();
  const BLOCK = 100;

  async function unpack(name) {
    const block = element(name);
    if (!block) throw new Error(`the block ${name} is missing`);
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack it; any browser since 2023 can");
    const bytes = Uint8Array.from(atob(block.textContent.trim()), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  function once(name) {
    if (!kept.has(name)) kept.set(name, unpack(name));
    return kept.get(name);
  }

  let head;
  rop.feed = {
    head: () => (head ??= JSON.parse(element("head").textContent)),
    // One row for each handoff of a set, in order.
    rows: (set) => once(`set-${set}-rows`),
    // Everything about one handoff.
    handoff: async (set, index) => rop.unpack(await once(`set-${set}-handoffs-${Math.floor(index / BLOCK)}`), index % BLOCK),
  };
})((window.rop = window.rop || {}));
