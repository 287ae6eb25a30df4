"use strict";
// Blocks of a page, unpacked when they are asked for.

const unpacked = new Map();

async function unpack(id) {
  if (!unpacked.has(id)) unpacked.set(id, inflate(document.getElementById(id).textContent));
  return unpacked.get(id);
}

async function inflate(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack what the page holds (no DecompressionStream): use one of 2023 or later");
  }
  const packed = Uint8Array.from(atob(base64), (mark) => mark.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
