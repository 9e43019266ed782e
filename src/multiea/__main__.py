"""Lets `python -m multiea` do what `multiea` does."""

from multiea.cli import main

main()
