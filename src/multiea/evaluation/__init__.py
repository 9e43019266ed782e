"""How good an alignment is: tie-aware ranks, Hits@K, M-Hits@K, precision, recall and F1, comparison of runs."""
