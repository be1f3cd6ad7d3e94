// What a feed answers, now or later, and what stands there meanwhile. No flicker: the last answer stays until the next one is there.
"use strict";
(function (rop) {
  const { html, useState, useMemo, useEffect } = rop;
  const later = (value) => value !== null && typeof value === "object" && typeof value.then === "function";
  const asError = (error) => (error instanceof Error ? error : new Error(String(error)));

  function now(ask) {
    try {
      const answer = ask();
      if (later(answer)) answer.then(undefined, () => undefined); // it may fail before anybody waits for it
      return answer;
    } catch (error) { return asError(error); }
  }

  // {value, fresh}: the value is undefined before the first answer, an Error where it failed; it is not fresh while the next one is under way.
  rop.useAnswer = (ask, on) => {
    const asked = useMemo(() => ({ answer: now(ask) }), [JSON.stringify(on)]);
    const [came, put] = useState({ to: null, value: undefined });
    useEffect(() => {
      if (!later(asked.answer)) return undefined;
      let wanted = true;
      const take = (value) => wanted && put({ to: asked, value });
      asked.answer.then(take, (error) => take(asError(error)));
      return () => { wanted = false; };
    }, [asked]);
    if (!later(asked.answer)) return { value: asked.answer, fresh: true };
    return { value: came.value, fresh: came.to === asked };
  };

  rop.failed = (value) => value instanceof Error;
  rop.Waiting = ({ value }) =>
    rop.failed(value) ? html`<p class="waiting" role="alert">${rop.visible(value.message)}</p>` : html`<p class="waiting">Reading …</p>`;
})((window.rop = window.rop || {}));
