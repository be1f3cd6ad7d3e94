// When each stage ran, as a waterfall.
"use strict";
(function (rop) {
  const { html } = rop;

  function depth(stage, stages) {
    let deep = 0;
    for (let at = stage; at && at.parent !== null && at.parent !== undefined && deep < 20; at = stages[at.parent]) deep += 1;
    return deep;
  }

  // Round times for the axis: at most six of 1, 2 or 5 times a power of ten.
  function ticks(first, last) {
    const raw = (last - first) / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
    const from = Math.ceil(first / step);
    return Array.from({ length: Math.floor(last / step) - from + 1 }, (_, index) => (from + index) * step);
  }

  rop.Waterfall = ({ detail }) => {
    const timed = detail.stages.filter((stage) => stage.start !== null && stage.start !== undefined && stage.duration !== null && stage.duration !== undefined);
    if (!timed.length) return html`<p class="note">The spans carry no times.</p>`;
    const whole = Math.max(detail.duration || 0, ...timed.map((stage) => stage.start + stage.duration), 1e-6);
    const first = Math.min(0, ...timed.map((stage) => Math.min(stage.start, stage.start + stage.duration)));
    const share = (seconds) => (100 * (seconds - first)) / (whole - first);
    return html`<${rop.Scroll} label="Timing of the stages"><table class="waterfall">
      <thead><tr><th scope="col">stage</th><th scope="col" class="axis"><svg aria-hidden="true" width="100%" height="16">${ticks(first, whole).map((each) => html`<text x=${`${share(each)}%`} y="12" class=${share(each) > 92 ? "end" : share(each) < 4 ? "start" : ""}>${each === 0 ? "0" : rop.seconds(each)}</text>`)}</svg><span class="unseen">when</span></th><th scope="col" class="number">start</th><th scope="col" class="number">took</th></tr></thead>
      <tbody>${[...timed].sort((one, other) => one.start - other.start).map((stage) => html`<tr key=${stage.place} class=${stage.status}>
        <th scope="row" class=${`deep-${Math.min(5, depth(stage, detail.stages))}`}>${rop.visible(rop.placeOf(stage), 60)}${stage.status !== "ok" ? html` <small class="warn-text">${stage.status}</small>` : ""}</th>
        <td class="axis"><svg aria-hidden="true" width="100%" height="20">
          ${ticks(first, whole).map((each) => html`<line x1=${`${share(each)}%`} x2=${`${share(each)}%`} y1="0" y2="20" />`)}
          <rect x=${`${share(Math.min(stage.start, stage.start + stage.duration))}%`} y="4" width=${`${Math.max(0.25, Math.abs(share(stage.start + stage.duration) - share(stage.start)))}%`} height="12" rx="2" /></svg></td>
        <td class="number">${rop.seconds(stage.start)}</td><td class="number">${stage.duration < 0 ? html`<span class="warn-text">ends before it starts</span>` : html`<b>${rop.seconds(stage.duration)}</b>`}</td>
      </tr>`)}</tbody>
    </table></${rop.Scroll}>`;
  };
})((window.rop = window.rop || {}));
