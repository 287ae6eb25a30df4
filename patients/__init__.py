"""Who the ward round is about, and what may be done to the record."""

from __future__ import annotations

from .builder import ChartBuilder
from .caching import cache_folder, cached, fingerprint
from .chart import Chart, Entry, Snapshot, ViewFilter
from .datafile import load_data
from .dialogue import Dialogue, Said, interview_problems
from .drawing import Drawing, draw_series
from .elements import document_text
from .errors import BusyError, DataError, UsageError, WardroundError
from .exporting import ExportReport, export_ndjson
from .facts import Measurement, measurements
from .fhir import types as resource_types
from .fhir import validate
from .hearing import interview_at
from .hospital.releases import build_hospital, release_names
from .hospital.truth import Truth
from .hospital.truth_lines import truth_lines
from .importers import import_fhir, import_mimic
from .inspection import Event, TypeOverview, never_visible, overview, printable, timeline
from .interview import Fact, FactKind, Interview, Persona, Reply, Words
from .interviewing import interview_stats, make_interview
from .loading import load_charts
from .markup import html_text, html_view
from .outputs import check_output, write_whole, writing_whole
from .overlay import InvalidResource, Overlay
from .plotting import Series, lab_series, plot_text
from .plotting_html import plot_page
from .query import Issue, Pool, SearchError, SearchResult, Visibility, fhir_search, parameters, searchable
from .r4 import Element, r4_elements
from .recording import Recording, Recordings
from .resource import Resource, rank_of
from .rng import Stream
from .rows import COLUMNS
from .search import Hits, Search
from .serving import blank_chart, dump_resource, keys_of, last_known, patients_named, read_resource, with_references
from .stays import is_hospital_stay
from .store import ChartStore
from .store_writer import StoreWriter
from .times import DAY, NEVER, SECOND, Instant, format_instant, parse_instant, parse_period
from .tools.matching import conditions_of
from .tools.registry import ALL_TOOLS, TOOLS, find_tool
from .tools.run import run_tool
from .tools.spec import ToolCall, ToolContext, ToolResult, ToolSpec

__all__ = [
    "ALL_TOOLS",
    "COLUMNS",
    "DAY",
    "NEVER",
    "SECOND",
    "TOOLS",
    "BusyError",
    "Chart",
    "ChartBuilder",
    "ChartStore",
    "DataError",
    "Dialogue",
    "Drawing",
    "Element",
    "Entry",
    "Event",
    "ExportReport",
    "Fact",
    "FactKind",
    "Hits",
    "Instant",
    "Interview",
    "InvalidResource",
    "Issue",
    "Measurement",
    "Overlay",
    "Persona",
    "Pool",
    "Recording",
    "Recordings",
    "Reply",
    "Resource",
    "Said",
    "Search",
    "SearchError",
    "SearchResult",
    "Series",
    "Snapshot",
    "StoreWriter",
    "Stream",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Truth",
    "TypeOverview",
    "UsageError",
    "ViewFilter",
    "Visibility",
    "WardroundError",
    "Words",
    "blank_chart",
    "build_hospital",
    "cache_folder",
    "cached",
    "check_output",
    "conditions_of",
    "document_text",
    "draw_series",
    "dump_resource",
    "export_ndjson",
    "fhir_search",
    "find_tool",
    "fingerprint",
    "format_instant",
    "html_text",
    "html_view",
    "import_fhir",
    "import_mimic",
    "interview_at",
    "interview_problems",
    "interview_stats",
    "is_hospital_stay",
    "keys_of",
    "lab_series",
    "last_known",
    "load_charts",
    "load_data",
    "make_interview",
    "measurements",
    "never_visible",
    "overview",
    "parameters",
    "parse_instant",
    "parse_period",
    "patients_named",
    "plot_page",
    "plot_text",
    "printable",
    "r4_elements",
    "rank_of",
    "read_resource",
    "release_names",
    "resource_types",
    "run_tool",
    "searchable",
    "timeline",
    "truth_lines",
    "validate",
    "with_references",
    "write_whole",
    "writing_whole",
]
