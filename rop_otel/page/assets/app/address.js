// The view and its filters are the part of the address after "#", so that a view can be sent.
"use strict";
(function (rop) {
  const { useState, useEffect } = rop;

  function decoded(part) {
    try { return decodeURIComponent(part); } catch { return part; }
  }

  // "#/handoff/abc?set=1" is {path: ["handoff", "abc"], params: {set: "1"}}.
  rop.parse = (hash) => {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    return { path: path.split("/").filter(Boolean).map(decoded), params: Object.fromEntries(new URLSearchParams(query)) };
  };
  // Half a pair of surrogates cannot stand in an address.
  rop.addressed = (part) => String(part).toWellFormed();
  rop.link = (path, params = {}) => {
    const given = Object.entries(params).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return `#/${path.map((part) => encodeURIComponent(rop.addressed(part))).join("/")}${query ? `?${query}` : ""}`;
  };
  // Another address in place of this one; it makes no step back.
  rop.replace = (path, params) => location.replace(rop.link(path, params));
  rop.go = (path, params) => { location.hash = rop.link(path, params); };

  rop.useAddress = () => {
    const [address, put] = useState(() => rop.parse(location.hash));
    useEffect(() => {
      const changed = () => put(rop.parse(location.hash));
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    }, []);
    return address;
  };
})((window.rop = window.rop || {}));
