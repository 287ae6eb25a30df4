"""From a chart to sessions: scenarios, arcs, plans, quotas and named sets (docs/sessions.md)."""
