// The search and the filters above a table.
"use strict";
(function (rop) {
  const { html, useState, useEffect, useRef } = rop;
  const LABELS = { verdict: "Verdict", at: "Lost at", cause: "Cause", finding: "Finding", name: "Handoff", service: "Service" };
  const NAMES = {
    ...LABELS, q: "Search", record: "Record", object: "Object", run: "Run", selected: "Selected object", judged: "Judged objects",
    judged_loss: "Judged object lost", citation: "Citation", past: "Assessed", since: "Since", until: "Until",
  };
  const PAST = { hour: "in the last hour", day: "in the last day", week: "in the last week" };
  const PAUSE = 120;

  // A time of the address, Unix seconds or RFC 3339, in Unix seconds; null where it is neither.
  function instant(text) {
    const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
    return Number.isFinite(seconds) && Math.abs(seconds) < 8e12 ? seconds : null;
  }

  // What an active filter says, in words.
  rop.filterWords = (name, value) => {
    if (name === "selected" || name === "judged") {
      const split = value.lastIndexOf(":");
      return `${rop.stageWords(value.slice(0, split))} ${value.endsWith(":1") ? "holds it" : "lacks it"}`;
    }
    if (name === "judged_loss") return value.replace(/:([^:]*)$/, " ($1)").replace(/^- /, "no stage ");
    if (name === "past") return Object.hasOwn(PAST, value) ? PAST[value] : value;
    if (name === "since" || name === "until") return instant(value) === null ? value : `${rop.moment(instant(value))} UTC`;
    if (name === "at" && value.endsWith("/*")) return value === "-/*" ? "no stage" : `any ${value.slice(0, -2)}`;
    return value === "-" ? (name === "at" ? "no stage" : "none") : value;
  };

  function Typed({ name, value, change }) {
    const [typed, put] = useState(value);
    const timer = useRef(0);
    useEffect(() => { put(value); }, [value]);
    useEffect(() => () => clearTimeout(timer.current), []);
    const type = (text) => {
      put(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => change(name, text), PAUSE);
    };
    const hint = { q: "record, object, trace …", record: "contains …", object: "ID contains …" }[name];
    return html`<label class=${name === "q" ? "wide" : ""}>${NAMES[name]}
      <input type="search" name=${name} value=${typed} placeholder=${hint} onInput=${(event) => type(event.target.value)} />
    </label>`;
  }

  rop.Chosen = ({ name, value = "", choices, change }) => {
    const all = value && !choices.some(([key]) => key === value) ? [...choices, [value, null]] : choices;
    const words = (key) => rop.visible(name === "finding" ? key.replace("@", " at ") : rop.filterWords(name, key), 60);
    return html`<label>${NAMES[name]}
      <select name=${name} value=${value} onChange=${(event) => change(name, event.target.value)}>
        <option value="">${name === "past" ? "at any time" : "all"}</option>
        ${all.map(([key, count]) => html`<option value=${key} selected=${key === value}>${words(key)}${count === null ? "" : ` (${rop.count(count)})`}</option>`)}
      </select>
    </label>`;
  };
  rop.Past = ({ value, change }) => html`<${rop.Chosen} name="past" value=${value} choices=${Object.keys(PAST).map((each) => [each, null])} change=${change} />`;

  function Moment({ name, value, change }) {
    const at = value && instant(value) !== null ? new Date(instant(value) * 1000).toISOString().slice(0, 19) : "";
    const take = (text) => change(name, text && `${text}${text.length === 16 ? ":00" : ""}Z`);
    return html`<label>${NAMES[name]} (UTC) <input type="datetime-local" step="1" name=${name} value=${at} onChange=${(event) => take(event.target.value)} /></label>`;
  }

  // choices: {filter: [[choice, count or null]]}; moments: the times can be typed.
  rop.FilterBar = ({ choices, filter, change, label = "Filters", moments = false }) => html`<form class="filters" role="search" aria-label=${label} onSubmit=${(event) => event.preventDefault()}>
    <${Typed} name="q" value=${filter.q || ""} change=${change} />
    ${Object.keys(LABELS).map((name) => {
      if ((choices[name] || []).length < 2 && !filter[name] && (name === "name" || name === "service")) return null;
      return html`<${rop.Chosen} key=${name} name=${name} value=${filter[name] || ""} choices=${choices[name] || []} change=${change} />`;
    })}
    <${Typed} name="record" value=${filter.record || ""} change=${change} />
    <${Typed} name="object" value=${filter.object || ""} change=${change} />
    ${rop.feed.live && (moments ? ["since", "until"].map((name) => html`<${Moment} key=${name} name=${name} value=${filter[name]} change=${change} />`) : html`<${rop.Past} value=${filter.past} change=${change} />`)}
  </form>`;

  // The active filters, each with a way to take it off.
  rop.FilterChips = ({ filter, link }) => {
    const names = Object.keys(filter);
    if (!names.length) return null;
    return html`<ul class="chips" aria-label="Active filters">
      ${names.map((name) => {
        const { [name]: value, ...others } = filter;
        const words = `${NAMES[name]}: ${rop.visible(rop.filterWords(name, value), 60)}`;
        return html`<li key=${name}><a href=${link(others)} aria-label=${`Remove the filter ${words}`}>${words}<span aria-hidden="true"> ×</span></a></li>`;
      })}
      <li><a class="plain" href=${link({})}>Remove all</a></li>
    </ul>`;
  };

  rop.SetChoice = ({ set, change, label = "Set" }) => {
    const { sets = [] } = rop.feed.head();
    if (sets.length < 2) return null;
    return html`<label class="set">${label}
      <select name="set" onChange=${(event) => change(event.target.value)}>
        ${sets.map((each, index) => html`<option value=${index} selected=${index === set}>${rop.visible(each.name, 60)}</option>`)}
      </select>
    </label>`;
  };
})((window.rop = window.rop || {}));
