"""A line chart as PNG with the standard library and numpy: enough for a learning curve, no plotting library needed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT, _EDGE = 720, 440, 56
_COLOURS = ((31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189))
_FONT = {
    "0": ("111", "101", "101", "101", "111"),
    "1": ("010", "110", "010", "010", "111"),
    "2": ("111", "001", "111", "100", "111"),
    "3": ("111", "001", "111", "001", "111"),
    "4": ("101", "101", "111", "001", "001"),
    "5": ("111", "100", "111", "001", "111"),
    "6": ("111", "100", "111", "101", "111"),
    "7": ("111", "001", "010", "010", "010"),
    "8": ("111", "101", "111", "101", "111"),
    "9": ("111", "101", "111", "001", "111"),
    ".": ("000", "000", "000", "000", "010"),
}

Line = Sequence[tuple[float, float]]
Pixels = NDArray[np.uint8]


def save_chart(path: Path, lines: Sequence[Line], *, marks: Sequence[float] = ()) -> None:
    """Write lines of (x, y) with y from 0 to 1 as a PNG; the y axis has a number at every fifth, the x axis at its end.

    Args:
        path: The file.
        lines: One line a seed.
        marks: Heights of dashed lines, as a goal.
    """
    pixels: Pixels = np.full((_HEIGHT, _WIDTH, 3), 255, dtype=np.uint8)
    most = max((x for line in lines for x, _ in line), default=1.0) or 1.0
    for fifth in range(6):
        row = _row(fifth / 5)
        pixels[row, _EDGE : _WIDTH - _EDGE // 2] = 225
        _write(pixels, row - 5, 8, f"{fifth / 5:.1f}")
    for mark in marks:
        for start in range(_EDGE, _WIDTH - _EDGE // 2, 12):
            pixels[_row(mark), start : start + 6] = (120, 120, 120)
    pixels[_row(1.0) : _row(0.0) + 1, _EDGE] = 0
    pixels[_row(0.0), _EDGE : _WIDTH - _EDGE // 2] = 0
    for share in (0, 1, 2, 3, 4):
        column = _column(share / 4)
        _write(pixels, _row(0.0) + 8, column - 12, str(round(most * share / 4)))
    for line, colour in zip(lines, _COLOURS * (1 + len(lines) // len(_COLOURS)), strict=False):
        points = [(_column(x / most), _row(y)) for x, y in line]
        for (x0, y0), (x1, y1) in pairwise(points):
            _stroke(pixels, (x0, y0), (x1, y1), colour)
    path.write_bytes(_png(pixels))


def _row(y: float) -> int:
    return round(_HEIGHT - _EDGE - max(0.0, min(1.0, y)) * (_HEIGHT - 2 * _EDGE))


def _column(share: float) -> int:
    return round(_EDGE + share * (_WIDTH - _EDGE - _EDGE // 2))


def _stroke(pixels: Pixels, start: tuple[int, int], end: tuple[int, int], colour: tuple[int, int, int]) -> None:
    many = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    for step in range(many + 1):
        x = round(start[0] + (end[0] - start[0]) * step / many)
        y = round(start[1] + (end[1] - start[1]) * step / many)
        pixels[y - 1 : y + 1, x - 1 : x + 1] = colour


def _write(pixels: Pixels, top: int, left: int, text: str) -> None:
    """Write digits two pixels a dot."""
    for number, sign in enumerate(text):
        for row, dots in enumerate(_FONT[sign]):
            for column, dot in enumerate(dots):
                if dot == "1":
                    y, x = top + row * 2, left + number * 8 + column * 2
                    pixels[y : y + 2, x : x + 2] = 60


def _png(pixels: Pixels) -> bytes:
    """Return the pixels as a PNG file (RGB, 8 bits, no filter; ISO/IEC 15948)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\x00" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
