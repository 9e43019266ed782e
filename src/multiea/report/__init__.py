"""The report: one HTML page about an alignment that needs nothing but itself; modules in the order of the page."""
