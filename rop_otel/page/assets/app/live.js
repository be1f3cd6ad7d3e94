// What arrives now: verdicts over time, where objects get lost, and the newest handoffs that failed.
"use strict";
(function (rop) {
  const { html, useState, useEffect, useRef } = rop;
  const HOUR = 3600, STRETCH = 10, STRETCHES = 30, FEWEST_HOURS = 24, MOST_HOURS = 168;
  const RATHER = 2_000; // between two questions for totals
  const QUIET = 10_000; // between two sentences for a screen reader
  const NEWEST = 15;
  const now = () => Math.floor(Date.now() / 1000);
  const clock = (unix, long) => rop.moment(unix).slice(long ? 0 : 11, long ? 16 : 19);

  // Every hour from the first to this one, those without a handoff among them: at least a day, at most the last week.
  function hoursOf(hours, base) {
    if (!hours.length) return [];
    const last = Math.floor(now() / HOUR) * HOUR;
    const known = new Map(hours.map((hour) => [hour.start, hour]));
    const ago = (last - Math.min(...known.keys())) / HOUR;
    const count = Math.max(FEWEST_HOURS, Math.min(MOST_HOURS, ago + 1)), first = last - (count - 1) * HOUR;
    return Array.from({ length: count }, (_, index) => {
      const start = first + index * HOUR;
      const hour = known.get(start) || { handoffs: 0, verdicts: {} };
      return { key: start, words: clock(start, true), ...hour, link: rop.link(["handoffs"], { ...base, past: "", since: start, until: start + HOUR }) };
    });
  }

  const sum = (verdicts) => Object.values(verdicts).reduce((all, count) => all + count, 0);

  // The last five minutes, counted here from what the stream says.
  function minutesOf(counted, at) {
    const last = Math.floor(at / STRETCH);
    return Array.from({ length: STRETCHES }, (_, index) => {
      const key = last - STRETCHES + 1 + index;
      const verdicts = counted.get(key) || {};
      return { key, words: clock(key * STRETCH), verdicts, handoffs: sum(verdicts) };
    });
  }

  // Listens as long as it is looked at. {turn: rises when totals are to be asked again, minutes, state, waiting, said}
  function useStream(paused) {
    const counted = useRef(new Map()), held = useRef(paused), due = useRef(0), told = useRef({ at: 0, arrived: 0, failed: 0 });
    const [turn, next] = useState(0), [state, put] = useState("opening"), [waiting, wait] = useState(0), [said, say] = useState("");
    held.current = paused;
    const again = () => { due.current ||= setTimeout(() => { due.current = 0; rop.feed.refresh(); next((count) => count + 1); }, RATHER); };
    useEffect(() => {
      const settled = ({ verdicts }) => {
        const key = Math.floor(now() / STRETCH), there = counted.current.get(key) || {};
        for (const [verdict, count] of Object.entries(verdicts)) there[verdict] = (there[verdict] || 0) + count;
        counted.current.set(key, there);
        for (const old of counted.current.keys()) if (old <= key - STRETCHES) counted.current.delete(old);
        if (held.current) { wait((count) => count + sum(verdicts)); return; }
        const news = told.current;
        news.arrived += sum(verdicts);
        news.failed += verdicts.FAIL || 0;
        if (Date.now() - news.at > QUIET) {
          say(`${rop.counted(news.arrived, "handoff")} arrived, ${rop.count(news.failed)} failed`);
          told.current = { at: Date.now(), arrived: 0, failed: 0 };
        }
        again();
      };
      const close = rop.feed.stream({ settled, state: (found) => { put((before) => { if (found === "live" && before === "lost") again(); return found; }); } });
      return () => { close(); clearTimeout(due.current); };
    }, []);
    useEffect(() => { if (!paused && waiting) { wait(0); again(); } }, [paused]);
    return { turn, state, waiting, said, counted: counted.current };
  }

  const STATES = { opening: "connecting …", live: "live", lost: "connection lost; trying again …" };

  function State({ stream, paused, pause }) {
    const name = stream.state === "live" ? (paused ? "paused" : "follows") : stream.state;
    return html`<div class="stream">
      <span class=${`state ${name}`} role="status"><i aria-hidden="true"></i>${paused ? `paused${stream.state === "lost" ? ", connection lost" : ""}` : STATES[stream.state]}</span>
      ${paused && stream.waiting > 0 && html`<span class="note">${rop.counted(stream.waiting, "handoff")} arrived meanwhile</span>`}
      <button type="button" class="small" aria-pressed=${paused} onClick=${() => pause(!paused)}>${paused ? "Go on" : "Pause"}</button>
      <span class="unseen" aria-live="polite">${paused ? "" : stream.said}</span></div>`;
  }

  function Newest({ rows }) {
    if (!rows.length) return html`<p class="note">None has failed.</p>`;
    return html`<${rop.Scroll} label="Newest handoffs that failed"><table class="handoffs newest">
      <thead><tr><th scope="col">Record</th><th scope="col">Lost at, cause</th><th scope="col">Selected object</th><th scope="col">Handoff</th><th scope="col" class="number">Start (UTC)</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.handoff_id}>
        <th scope="row"><a class="row-link" href=${rop.handoffLink(row, { verdict: "FAIL" })}><${rop.Record} of=${row} /></a></th>
        <td class="lost">${row.drop_cause ? html`<b>${row.dropped_at ? rop.visible(rop.droppedAt(row), 50) : "no stage"}</b> <span class="cause">${rop.visible(row.drop_cause)}</span>` : html`<span class="faint">–</span>`}</td>
        <td class="ids">${(row.selected || []).slice(0, 2).map((id) => html`<${rop.Id} of=${id} /> `)}</td>
        <td>${rop.visible(row.handoff_name, 40)}${row.service ? html` <small class="faint">${rop.visible(row.service, 40)}</small>` : ""}</td>
        <td class="number when">${rop.moment(row.start)}</td></tr>`)}</tbody></table></${rop.Scroll}>`;
  }

  rop.Live = ({ address }) => {
    const past = address.params.past || "day";
    const [paused, pause] = useState(false), [, tick] = useState(0);
    const stream = useStream(paused);
    const base = past === "all" ? {} : { past };
    const { value: found } = rop.useAnswer(() => rop.feed.totals({ filter: base }), [past, stream.turn]);
    const { value: failed } = rop.useAnswer(() => rop.feed.rows({ filter: { verdict: "FAIL" } }), stream.turn);
    useEffect(() => { // time goes on also where nothing arrives
      const timer = setInterval(() => tick((count) => count + 1), STRETCH * 1000);
      return () => clearInterval(timer);
    }, []);
    const seen = useRef(now());
    if (!paused) seen.current = now();
    const there = found && !rop.failed(found);
    const change = (_, value) => rop.go(["live"], { past: value || "all" });
    return html`<main id="main" class="now">
      <div class="title"><${rop.Heading}>Live</${rop.Heading}><${State} stream=${stream} paused=${paused} pause=${pause} />
        <form class="filters few" onSubmit=${(event) => event.preventDefault()}><${rop.Past} value=${base.past} change=${change} /></form></div>
      ${!there ? html`<${rop.Waiting} value=${found} />` : html`
      <p class="note">${rop.counted(found.handoffs, "handoff")} assessed; ${rop.counted(found.open_traces, "trace")} still open.</p>
      ${found.handoffs === 0 ? html`<p class="nothing">No handoff was assessed in this time. <a href=${rop.link(["live"], { past: "all" })}>Show all</a></p>` : html`
      <${rop.Headline} base=${base} summary=${found.summary} total=${found.handoffs} />
      <div class="two"><${rop.Section} id="hours" title="Verdicts by hour"><${rop.Rates} label="Verdicts by hour" stretches=${hoursOf(found.hours, base)} /></${rop.Section}>
      <${rop.Section} id="minutes" title="The last five minutes" note="Since this page was opened."><${rop.Rates} label="Verdicts in the last five minutes" stretches=${minutesOf(stream.counted, seen.current)} /></${rop.Section}></div>
      <${rop.Section} id="newest" title="Newest handoffs that failed"><${Newest} rows=${Array.isArray(failed?.rows) ? failed.rows.slice(0, NEWEST) : []} />
        <p class="more"><a href=${rop.link(["handoffs"], { verdict: "FAIL" })}>All that failed</a></p></${rop.Section}>
      <${rop.Section} id="survival" title="Where the selected object gets lost"><${rop.Survival} base=${base} summary=${found.summary} /></${rop.Section}>
      <${rop.Section} id="losses" title="Losses by place and cause"><${rop.Losses} base=${base} summary=${found.summary} /></${rop.Section}>`}`}
    </main>`;
  };
})((window.rop = window.rop || {}));
