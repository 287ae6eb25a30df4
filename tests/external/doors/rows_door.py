"""Rows as Parquet, read back by pyarrow and by datasets; run where both are installed: `rows_door.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from datasets import load_dataset
from pyarrow import parquet

from wardround import dataset

folder = Path(sys.argv[1])
rows = dataset("ward", form="reply", seed=9)
path = folder / "rows.parquet"
assert rows.to_parquet(path, env_class="wardround") == len(rows) == 47
first = path.read_bytes()
read = parquet.read_table(path).to_pylist()
assert [{key: row[key] for key in ("prompt", "session_id", "seed")} for row in read] == list(rows)
assert {(row["licence"], row["env_class"]) for row in read} == {("CC0-1.0", "wardround")}
rows.to_parquet(path, env_class="wardround")
assert path.read_bytes() == first
loaded = load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(folder / "cache"))
assert loaded[3]["prompt"] == list(rows)[3]["prompt"]
print(len(loaded), loaded.column_names)
