"use strict";
// Results of calls as tables and as JSON, and what marks a row that a verdict rests on.

const EVIDENCE = "◆";
const NUMBER = "\ue000"; // stands before a number that is kept as text

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

// JSON whose numbers are kept as text, for their digits say how exactly something was measured: 0.30 is not 0.3.
function exactly(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g, (one) => (one[0] === '"' ? one : `"${NUMBER}${one}"`)));
}

function written(json) {
  return json.replace(/"\ue000([^"\\]*)"/g, "$1");
}

// JSON that came as text, in lines, its numbers as they were written.
function verbatim(text) {
  return make("pre", written(JSON.stringify(exactly(text), null, 1)), { dir: "ltr", tabindex: "0" });
}

// What a tool sent as a table, if it did: columns, rows with their digits, and what it counted.
function tableOf(text) {
  const sent = parsed(text);
  return sent && Array.isArray(sent.columns) && Array.isArray(sent.rows) ? { ...sent, rows: exactly(text).rows } : null;
}

function cellText(cell) {
  if (cell === null) return "";
  if (typeof cell === "object") return written(JSON.stringify(cell));
  return String(cell).replace(/^\ue000/, "");
}

function tables(found, event, rests) {
  return make("div", found.map((one) => {
    const rows = one.rows.map((row) => {
      const cells = (Array.isArray(row) ? row : [row]).map(cellText);
      const key = (event.resources || []).find((each) => rests.has(each) && each.endsWith(`/${cells[0]}`));
      return make(key ? "tr.evidence" : "tr", cells.map((told, place) => make(told.length > 40 ? "td.long" : "td.short",
        place === 0 && key ? `${EVIDENCE} ` : null, told.length > 40 ? prose(told) : told)));
    });
    const more = one.more ? `, ${one.more} more not shown` : "";
    return dataTable(`${one.total ?? one.rows.length} found${more}${rows.some((row) => row.className) ? `; ${EVIDENCE} evidence` : ""}`, one.columns, rows);
  }));
}
