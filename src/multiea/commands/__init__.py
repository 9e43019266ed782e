"""The commands, each reading its words, calling the library and showing what comes back."""
