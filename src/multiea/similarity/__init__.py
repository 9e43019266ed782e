"""How alike entities of different KGs are: blocked similarities, Sinkhorn, and what third KGs add."""
