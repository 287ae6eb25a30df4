"use strict";
// The list of sessions, its filters, and which of list and session is shown.

const PAGE = 200;
const TITLE = document.title;
const values = (pick) => [...new Set(SESSIONS.flatMap(pick).filter((one) => one !== null && one !== ""))].map(String).sort();
const STATES = {
  "open": (one) => one.done === 0, "begun": (one, session) => one.done > 0 && one.done < session.rows,
  "judged": (one, session) => one.done >= session.rows, "to be revised": (one) => one.revise, "rejected": (one) => one.reject,
};
// [name, label, choices, how a session, or one of its turns, meets the choice]
const BY_SESSION = [
  ...["scenario", "tier", "patient", "split"].map((name) => [name, name[0].toUpperCase() + name.slice(1), values((one) => one[name]), (one, wanted) => one[name] === wanted]),
  ["language", "Language", values((one) => one.languages), (one, wanted) => one.languages.includes(wanted)],
  ["state", "Review", Object.keys(STATES), (one, wanted) => STATES[wanted](tally(one), one)],
];
const BY_TURN = [
  ["task", "Task of a turn", values((one) => one.tasks), (one, turn, wanted) => one.tasks[turn] === wanted],
  ["type", "Type of a turn", ["explicit only", ...values((one) => one.types)], (one, turn, wanted) => (one.types[turn] || "explicit only") === wanted],
];
const chosen = new Map();
let found = SESSIONS;
let shown = PAGE;
let before = null; // what had the focus when a session was opened

function control(name, label, choices) {
  const select = make("select", { id: `f-${name}` }, make("option", "any", { value: "" }), choices.map((one) => make("option", one, { value: one })));
  select.addEventListener("change", () => {
    chosen.set(name, select.value);
    filter();
  });
  return make("p", make("label", label, { for: `f-${name}` }), select);
}

function controls() {
  const search = make("input", { id: "f-search", type: "search", autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => {
    chosen.set("search", search.value.trim().toLowerCase());
    filter();
  });
  const clear = make("button", "Clear all filters", { type: "button" });
  clear.addEventListener("click", () => {
    chosen.clear();
    document.querySelectorAll("#filters select, #filters input").forEach((one) => { one.value = ""; });
    filter();
  });
  const offered = [...BY_SESSION, ...BY_TURN].filter(([, , choices]) => choices.length > 1);
  return make("form", { id: "filters", "aria-label": "Filter sessions" }, make("p", make("label", "Session or patient holds", { for: "f-search" }), search),
    offered.map(([name, label, choices]) => control(name, label, choices)), make("p", clear));
}

function meets(one) {
  const search = chosen.get("search");
  if (search && ![one.id, one.patient].some((text) => text.toLowerCase().includes(search))) return false;
  if (!BY_SESSION.every(([name, , , test]) => !chosen.get(name) || test(one, chosen.get(name)))) return false;
  const wanted = BY_TURN.filter(([name]) => chosen.get(name));
  // one and the same turn must meet all that is asked of a turn
  return !wanted.length || one.tasks.some((_, turn) => wanted.every(([name, , , test]) => test(one, turn, chosen.get(name))));
}

function filter() {
  found = SESSIONS.filter(meets);
  shown = PAGE;
  list();
}

function stateOf(session) {
  const told = tally(session);
  const words = [told.revise ? "to be revised" : "", told.reject ? "rejected" : ""].filter(Boolean).join(", ");
  return `${told.done} / ${session.rows}${words ? ` ${words}` : ""}`;
}

function list() {
  const most = SESSIONS.reduce((top, one) => Math.max(top, one.tasks.length), 0);
  const columns = ["session", "scenario", "tier", "patient", ...Array.from({ length: most }, (_, turn) => `turn ${turn}`), "judged"];
  document.getElementById("count").textContent = `${found.length.toLocaleString("en")} of ${SESSIONS.length.toLocaleString("en")} sessions`;
  const rows = found.slice(0, shown).map((one) => make("tr", make("th", make("a", one.id, { href: address(one) }), { scope: "row" }),
    make("td", one.scenario), make("td", one.tier), make("td", one.patient),
    Array.from({ length: most }, (_, turn) => make("td.short", one.tasks[turn] ? `${one.tasks[turn]} ${one.types[turn] || ""}` : "")), make("td.short", stateOf(one))));
  const box = document.getElementById("list");
  box.replaceChildren(dataTable("Sessions; a turn is its task and the type of its implicit form", columns, rows));
  const grow = () => {
    shown += PAGE;
    list();
  };
  if (found.length > shown) box.append(moreButton(box, found.length - shown, PAGE, grow));
}

function address(session) {
  return `#${encodeURIComponent(`s/${session.id}`)}`;
}

function named(hash) {
  let told;
  try {
    told = decodeURIComponent(hash.slice(1));
  } catch {
    return null;
  }
  return told.startsWith("s/") ? told.slice(2) : null;
}

function steps(session) {
  const at = found.indexOf(session);
  const link = (one, label) => (one ? make("a", label, { href: address(one) }) : make("span.note", label));
  return make("nav", { "aria-label": "Sessions" }, make("a", "← All sessions", { href: "#sessions" }), " ", link(at > 0 ? found[at - 1] : null, "Previous"), " ",
    link(at >= 0 ? found[at + 1] : null, "Next"), at >= 0 ? make("span.note", ` ${at + 1} of ${found.length}`) : null);
}

function allRight(session, body, changed) {
  const button = make("button", "Mark what is still open here as ok", { type: "button" });
  button.addEventListener("click", () => {
    for (const row of body.rows) {
      const key = rowKey(row[0], row[1], row[2]);
      if (!(judged.get(session.id).get(key) || OPEN).verdict) judge(session, key, { verdict: "ok" });
    }
    document.querySelectorAll("fieldset.asked").forEach((one) => one.dispatchEvent(new Event("shown")));
    changed();
  });
  return make("p", button);
}

async function show(session) {
  const article = document.getElementById("session");
  const state = make("span.badge.ungraded", { role: "status" });
  const changed = () => {
    state.textContent = `judged ${stateOf(session)}`;
    progress();
  };
  let parts;
  try {
    const body = await sessionBody(session);
    parts = [...sessionOf(session, body, await unpack(`c${session.chart}`), changed), allRight(session, body, changed)];
  } catch (error) {
    parts = [make("p.fault", `This session cannot be shown: ${error.message}`)];
  }
  if (named(location.hash) !== session.id) return; // another was opened meanwhile
  const head = make("h1", `Session ${session.id} `, state, { tabindex: "-1" });
  article.replaceChildren(steps(session), head, ...parts.filter(Boolean), steps(session));
  changed();
  document.title = `Session ${session.id}: ${TITLE}`;
  turnTo(true);
  head.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function turnTo(one) {
  document.getElementById("session").hidden = !one;
  document.getElementById("sessions").hidden = one;
  document.querySelector("body > header").hidden = one;
  document.body.classList.toggle("reading", one);
}

function follow() {
  const wanted = named(location.hash);
  const session = BY_ID.get(wanted);
  if (session) {
    if (document.getElementById("session").hidden) before = address(session);
    show(session);
    return;
  }
  const was = !document.getElementById("session").hidden;
  document.title = TITLE;
  turnTo(false);
  filter();
  if (wanted !== null) {
    const box = document.getElementById("count");
    box.textContent = "";
    put(box, `No session of this page is called ${wanted}`);
  }
  if (!was) return;
  const back = [...document.querySelectorAll("#list tbody a")].find((one) => one.getAttribute("href") === before);
  if (back) back.focus();
}

SESSIONS.forEach(recall);
document.getElementById("desk").append(desk());
document.getElementById("browser").append(controls(), make("p", { id: "count", role: "status" }), make("div", { id: "list" }));
filter();
progress();
addEventListener("hashchange", follow);
addEventListener("storage", (event) => {
  const session = event.key?.startsWith(KEPT) ? BY_ID.get(event.key.slice(KEPT.length)) : undefined;
  if (!session) return;
  recall(session);
  refresh();
});
follow();
document.documentElement.dataset.ready = "yes";
