// The frame around the views: which one the address names, the way to the others, light and dark.
"use strict";
(function (rop) {
  const { html, useEffect, useState, useRef } = rop;
  const VIEWS = { live: "Live", overview: "Overview", handoffs: "Handoffs", handoff: "Handoff", runs: "Runs", run: "Run", compare: "Compare" };
  const UNDER = { handoff: "handoffs", run: "runs" };
  const THEMES = ["auto", "light", "dark"];

  function remembered() {
    try { return localStorage.getItem("rop-theme") || "auto"; } catch { return "auto"; }
  }

  function Theme() {
    const [theme, put] = useState(remembered);
    useEffect(() => {
      document.documentElement.dataset.theme = theme;
      try { localStorage.setItem("rop-theme", theme); } catch { /* a file may not remember */ }
    }, [theme]);
    return html`<label class="theme">Theme <select name="theme" onChange=${(event) => put(event.target.value)}>
      ${THEMES.map((each) => html`<option value=${each} selected=${each === theme}>${each}</option>`)}</select></label>`;
  }

  function View({ address }) {
    const stored = rop.useStored();
    const name = address.path[0] || "";
    if (stored === 0) return html`<${rop.First} />`;
    if (stored === undefined || rop.failed(stored)) return html`<main id="main"><${rop.Heading}>rop-otel</${rop.Heading}><${rop.Waiting} value=${stored} /></main>`;
    const views = rop.feed.live ? { live: rop.Live, overview: rop.Overview, runs: rop.Runs, run: rop.Run } : {};
    const Shown = { handoffs: rop.Handoffs, handoff: rop.Handoff, compare: rop.Compare, ...views }[name] || (rop.feed.live ? rop.Live : rop.Overview);
    return html`<${Shown} address=${address} />`;
  }

  function Page() {
    const address = rop.useAddress();
    const head = rop.feed.head();
    const view = Object.hasOwn(VIEWS, address.path[0] || "") ? address.path[0] : rop.feed.live ? "live" : "overview";
    const where = address.path.join("/");
    const seen = useRef(where);
    if (seen.current !== where) { // before the views are drawn: their heading asks
      seen.current = where;
      rop.arrival = { count: rop.arrival.count + 1, fresh: true };
    }
    useEffect(() => {
      const named = view === "handoff" || view === "run" ? ` ${rop.visible(address.path[1], 40)}` : "";
      document.title = `${[`${VIEWS[view]}${named}`, head.title].filter(Boolean).map((part) => rop.visible(part, 80)).join(" · ")} · rop-otel`;
      if (rop.arrival.count) scrollTo(0, 0);
    }, [where]);
    const set = address.params.set || "";
    const tab = (name, path = [name]) => html`<a href=${rop.link(path, { set: name === "compare" ? "" : set })} aria-current=${(UNDER[view] || view) === name ? "page" : null}>${VIEWS[name]}</a>`;
    const tabs = rop.feed.live ? [tab("live", []), tab("overview"), tab("handoffs"), tab("runs"), tab("compare")] : [tab("overview", []), tab("handoffs"), tab("compare")];
    return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector("h1")?.focus(); }}>To the content</a>
      <header class="top"><a class="brand" href="#/"><svg viewBox="0 0 24 24" aria-hidden="true"><path class="thin" d="M2 6C9 6 9 12 15 12M2 18C9 18 9 17 15 17" /><path class="thick" d="M2 12C9 12 9 6 22 6" /><circle cx="22" cy="6" r="2" /></svg>rop-otel</a>
        <nav aria-label="Views">${tabs}</nav>
        <${Theme} /></header>
      <${View} address=${address} />
      <footer><p>${rop.visible(head.title, 120)}${head.made_at ? ` · made ${rop.visible(head.made_at, 100)}` : ""} · rop-otel ${rop.visible(head.version, 100)} · ${rop.feed.live ? "times in UTC" : "nothing on this page was fetched from elsewhere"}</p></footer>`;
  }

  const root = document.getElementById("page");
  const draw = (page) => { root.replaceChildren(); preact.render(page, root); };
  rop.feed.open().then(() => draw(html`<${Page} />`), (error) => draw(html`<main><${rop.Waiting} value=${error} /></main>`));
})((window.rop = window.rop || {}));
