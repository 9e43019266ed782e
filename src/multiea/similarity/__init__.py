"""How similar entities of different KGs are: search and blocking, Sinkhorn, paths through third KGs."""
