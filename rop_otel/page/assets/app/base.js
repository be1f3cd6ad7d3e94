// What every view uses: markup, texts from spans, numbers, small parts.
"use strict";
(function (rop) {
  const html = (rop.html = htm.bind(preact.h));
  Object.assign(rop, preactHooks);

  const MOST = 300;
  const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
  const escaped = (char) => `\\u{${char.codePointAt(0).toString(16)}}`;

  // Text from a span as a reader can see it: control and bidirectional characters as escapes, not too long.
  rop.visible = (text, most = MOST) => {
    const whole = String(text ?? "");
    const cut = whole.length > most ? whole.slice(0, most) : whole;
    return cut.replace(UNSEEN, escaped) + (whole.length > most ? `… (${rop.count(whole.length)} characters)` : "");
  };
  // The same on little room: without its end, or without its middle, since the end of an ID distinguishes one chunk from the next.
  rop.cut = (text, most) => { const whole = rop.visible(text, 400); return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole; };
  rop.middle = (text, most) => { const whole = rop.visible(text, 400); return whole.length > most ? `${whole.slice(0, Math.floor(most / 2))}…${whole.slice(1 - Math.ceil(most / 2))}` : whole; };
  // The same as an element, which keeps its own direction of writing. Nothing that could be read is "no ID".
  const SHORT = 24;
  const breakable = (text) => (text.length <= SHORT ? text : text.split(/(?<=[._/#:-])/).map((part, place) => html`${place ? html`<wbr />` : ""}${part}`));
  rop.Id = ({ of, class: name = "" }) =>
    of === "" ? html`<i class="faint">unreadable</i>` : html`<bdi class=${`id ${name}`} title=${rop.visible(of)}>${breakable(rop.visible(of))}</bdi>`;

  const whole = new Intl.NumberFormat("en");
  rop.count = (number) => whole.format(number);
  rop.counted = (number, noun) => `${rop.count(number)} ${noun}${number === 1 ? "" : "s"}`;
  rop.percent = (part, of) => (of ? `${((100 * part) / of).toFixed(1)} %` : "–");
  rop.score = (value) => (value === undefined || value === null ? "–" : value.toFixed(3));
  rop.short = (value) => (value === null || value === undefined ? "" : Number(value.toPrecision(3)).toString());
  rop.seconds = (value) => {
    if (value === null || value === undefined) return "–";
    if (value < 0) return `−${rop.seconds(-value)}`;
    if (value >= 100) return `${Math.round(value)} s`;
    if (value >= 1) return `${value.toFixed(2)} s`;
    return value >= 0.01 || value === 0 ? `${Math.round(value * 1000)} ms` : `${(value * 1000).toFixed(1)} ms`;
  };
  rop.moment = (unix) => (unix === null || unix === undefined ? "–" : new Date(unix * 1000).toISOString().replace("T", " ").slice(0, 19));

  // A stage in one word: mmr, vector/titles, rerank/2.
  rop.place = (stage, name, round) => [stage, name, round].filter((part) => part !== null && part !== undefined).join("/");
  rop.placeOf = (of) => rop.place(of.stage, of.name, of.round);

  const SHAPES = {
    check: "M4.5 8.5l2.5 2.5 4.5-5.5",
    cross: "M5 5l6 6M11 5l-6 6",
    question: "M6 6.2a2 2 0 1 1 2.6 1.9c-.5.2-.6.5-.6 1.2M8 11.4v.2",
    dash: "M5 8h6",
    bang: "M8 4.5v4.6M8 11.3v.2",
  };
  rop.Icon = ({ shape, class: name = "" }) => html`<svg class=${`icon ${name}`} viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="8" cy="8" r="7" /><path d=${SHAPES[shape]} />
  </svg>`;

  const VERDICT_SHAPES = { PASS: "check", FAIL: "cross", NOT_APPLICABLE: "dash", SELECTOR_ERROR: "bang", RESOLUTION_ERROR: "bang", DECLARATION_INVALID: "bang" };
  rop.verdictClass = (verdict) => (verdict === "PASS" ? "good" : verdict === "FAIL" ? "bad" : verdict === "NOT_APPLICABLE" ? "quiet" : "unsure");
  rop.Verdict = ({ of, large }) => html`<span class=${`verdict ${rop.verdictClass(of)} ${large ? "large" : ""}`}>
    <${rop.Icon} shape=${VERDICT_SHAPES[of] || "question"} />${of ? rop.visible(of) : "not assessed"}
  </span>`;
  const SEVERITY_SHAPES = { error: "cross", warning: "bang", info: "dash" };
  rop.Severity = ({ of }) => html`<span class=${`severity ${of}`}><${rop.Icon} shape=${SEVERITY_SHAPES[of] || "dash"} />${rop.visible(of)}</span>`;

  // The name of the view. After a way to another view the keyboard goes on from here, also where it is drawn anew.
  rop.arrival = { count: 0, fresh: false };
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => { rop.arrival.fresh = false; }, true);
  rop.Heading = ({ children }) => {
    const heading = rop.useRef(null);
    rop.useEffect(() => { if (rop.arrival.fresh) heading.current?.focus({ preventScroll: true }); }, [rop.arrival.count]);
    return html`<h1 ref=${heading} tabindex="-1">${children}</h1>`;
  };

  rop.Section = ({ title, note, id, children, class: name = "" }) => html`<section class=${name} aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2>${note && html`<p class="note">${note}</p>`}</header>
    ${children}
  </section>`;

  // A table that scrolls by itself where the screen is narrow; the keyboard reaches it.
  rop.Scroll = ({ label, children, class: name = "" }) => html`<div class=${`scroll ${name}`} tabindex="0" role="region" aria-label=${label}>${children}</div>`;

  // The first of many, and what shows the others.
  rop.useMost = (all, most, noun) => {
    const [whole, put] = rop.useState(false);
    const rest = all.length - most;
    if (rest <= 3) return { some: all, more: null };
    return { some: whole ? all : all.slice(0, most), more: html`<p class="more"><button type="button" aria-pressed=${whole} onClick=${() => put(!whole)}>${whole ? "Show fewer" : `Show ${rop.counted(rest, `more ${noun}`)}`}</button></p>` };
  };
})((window.rop = window.rop || {}));
