"""The built-in hospital: from the disease graph to longitudinal patients, their charts, notes and interviews."""
