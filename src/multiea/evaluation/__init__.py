"""How good an alignment is: tie-aware ranks, Hits@K, M-Hits@K, MRR; pure functions on arrays."""
