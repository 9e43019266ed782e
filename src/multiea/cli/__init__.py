"""The command line: parsing and printing, on top of the public API."""
