"""The built-in ward: hand-authored synthetic patients, one JSON file each; no real person is behind any of them."""

from __future__ import annotations

from wardround.patients.ward.load import build_ward, open_ward, ward_anchors, ward_catalog, ward_patients
from wardround.patients.ward.record import Catalog, WardPatient

__all__ = ["Catalog", "WardPatient", "build_ward", "open_ward", "ward_anchors", "ward_catalog", "ward_patients"]
