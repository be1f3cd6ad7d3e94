// What verdicts, causes and findings mean, in the words that the file brings; and which places a set has.
"use strict";
(function (rop) {
  const table = (name) => (rop.feed.head().words || {})[name] || {};
  const row = (name, key) => (Object.hasOwn(table(name), key) ? table(name)[key] : {});

  rop.words = {
    verdict: (verdict) => (typeof row("verdicts", verdict) === "string" ? row("verdicts", verdict) : ""),
    cause: (cause) => row("causes", cause),
    finding: (code) => row("findings", code),
  };
  rop.stageWords = (place) => (place === "shown" ? "reader is shown" : place);
  rop.JOINT = {
    both: "The reader was shown both the selected object and a judged one.",
    selected_only: "The reader was shown the selected object, but no judged one.",
    judged_only: "The reader was shown a judged object, but not the selected one.",
    neither: "The reader was shown neither the selected object nor a judged one.",
  };
  rop.OUTCOMES = ["resolved", "unresolved", "misattributed", "unattached"];
  rop.OUTCOME_WORDS = {
    resolved: "leads to the passage that was shown under it",
    unresolved: "nobody showed that label",
    misattributed: "leads to another passage",
    unattached: "leads nowhere",
  };
})((window.rop = window.rop || {}));
