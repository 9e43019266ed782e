"""The report: one self-contained HTML page about a run. page.py lists its sections; each has a module of its own."""
