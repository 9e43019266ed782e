"""Lets `python -m multiea` do what `multiea` does."""

from multiea.cli.main import main

main()
