"""Everything a user can choose about an alignment: one tree of settings, each default once."""
