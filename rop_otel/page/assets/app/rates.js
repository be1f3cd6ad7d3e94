// Verdicts over time: the share of each in a column for each stretch of time, and below it how many handoffs there were.
"use strict";
(function (rop) {
  const { html } = rop;
  const KINDS = ["good", "quiet", "unsure", "bad"]; // from the bottom up: what failed hangs from one line
  const HIGH = 100, LOW = 24, GAP = 10, WIDE = 12;

  function kindsOf(verdicts) {
    const counts = { good: 0, quiet: 0, unsure: 0, bad: 0 };
    for (const [verdict, count] of Object.entries(verdicts)) counts[rop.verdictClass(verdict)] += count;
    return counts;
  }

  function Column({ stretch, x, most }) {
    const { handoffs } = stretch;
    if (!handoffs) return null;
    const kinds = kindsOf(stretch.verdicts);
    let y = HIGH;
    const parts = KINDS.map((kind) => {
      const high = (HIGH * kinds[kind]) / handoffs;
      y -= high;
      return high > 0 && html`<rect key=${kind} class=${`fill-${kind}`} x=${x + 0.8} y=${y} width=${WIDE - 1.6} height=${high} />`;
    });
    const low = Math.max(1, (LOW * handoffs) / most);
    const words = `${stretch.words}: ${rop.counted(handoffs, "handoff")}${kinds.bad ? `, ${rop.count(kinds.bad)} failed (${rop.percent(kinds.bad, handoffs)})` : ""}`;
    const drawn = html`<title>${words}</title><rect class="whole" x=${x} y="0" width=${WIDE} height=${HIGH + GAP + LOW} />${parts}<rect class="volume" x=${x + 0.8} y=${HIGH + GAP + LOW - low} width=${WIDE - 1.6} height=${low} />`;
    return stretch.link ? html`<a href=${stretch.link} tabindex="-1">${drawn}</a>` : html`<g>${drawn}</g>`;
  }

  // stretches: [{key, words, handoffs, verdicts, link}], of the same length each, the oldest first.
  rop.Rates = ({ stretches, label }) => {
    const most = Math.max(1, ...stretches.map(({ handoffs }) => handoffs));
    const wide = WIDE * stretches.length;
    const some = stretches.filter(({ handoffs }) => handoffs > 0);
    return html`<figure class="rates" aria-label=${label}>
      <svg viewBox=${`0 0 ${wide} ${HIGH + GAP + LOW}`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width=${wide} height=${HIGH} />
        ${stretches.map((stretch, index) => html`<${Column} key=${stretch.key} stretch=${stretch} x=${WIDE * index} most=${most} />`)}
      </svg>
      <figcaption><span>${stretches[0]?.words}</span><span class="faint">share of each verdict; below, how many</span><span>${stretches.at(-1)?.words}</span></figcaption>
      <details><summary>The same as a table</summary><${rop.Scroll} label=${label} class="tall"><table>
        <thead><tr><th scope="col">when (UTC)</th><th scope="col" class="number">handoffs</th><th scope="col" class="number">passed</th><th scope="col" class="number">failed</th><th scope="col" class="number">failed, share</th></tr></thead>
        <tbody>${[...some].reverse().map((stretch) => {
          const kinds = kindsOf(stretch.verdicts);
          return html`<tr key=${stretch.key}><th scope="row">${stretch.link ? html`<a href=${stretch.link}>${stretch.words}</a>` : stretch.words}</th><td class="number">${rop.count(stretch.handoffs)}</td><td class="number">${rop.count(kinds.good)}</td><td class="number">${rop.count(kinds.bad)}</td><td class="number">${rop.percent(kinds.bad, stretch.handoffs)}</td></tr>`;
        })}</tbody></table></${rop.Scroll}></details>
    </figure>`;
  };
})((window.rop = window.rop || {}));
