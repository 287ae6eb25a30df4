"use strict";
// Results of calls as tables, and what marks a row that a verdict rests on.

const EVIDENCE = "◆";

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function tables(found, event, rests) {
  return make("div", found.map((one) => {
    const rows = one.rows.map((row) => {
      const cells = Array.isArray(row) ? row : [row];
      const key = (event.resources || []).find((each) => rests.has(each) && each.endsWith(`/${cells[0]}`));
      return make(key ? "tr.evidence" : "tr", cells.map((cell, place) => {
        const told = cell === null ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell);
        return make(told.length > 40 ? "td.long" : "td.short", place === 0 && key ? `${EVIDENCE} ` : null, told.length > 40 ? prose(told) : told);
      }));
    });
    const more = one.more ? `, ${one.more} more not shown` : "";
    return dataTable(`${one.total ?? one.rows.length} found${more}${rows.some((row) => row.className) ? `; ${EVIDENCE} evidence` : ""}`, one.columns, rows);
  }));
}
