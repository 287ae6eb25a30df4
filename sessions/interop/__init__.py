"""Sets in other shapes: reading and writing PhysAssistBench's published JSONL (docs/interop.md)."""

from .reading import import_physassistbench
from .report import ImportReport
from .writing import entry_of, export_physassistbench

__all__ = ["ImportReport", "entry_of", "export_physassistbench", "import_physassistbench"]
