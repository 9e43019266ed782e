"""Aligns one data set with several engines: `python compare_engines.py [DATASET]` prints their scores."""

import sys
import tempfile
from pathlib import Path

import multiea
from multiea.data.synthetic import Synthesis, write_synthetic

if len(sys.argv) > 1:
    task = multiea.load(sys.argv[1])
else:
    folder = Path(tempfile.mkdtemp())
    write_synthetic(Synthesis(kgs=3, entities=200), folder)
    task = multiea.load(folder)

print(f"{'engine':24} {'pairs F1':>8} {'M-Hits@1':>8} {'M-Hits@10':>9} {'seconds':>8}")
for engine in ("propagation", "multiea", "gcn-align", "propagation+multiea"):
    trained = engine != "propagation"
    training = multiea.Training(dimensions=64, epochs=30) if trained else None  # few epochs, to be fast
    alignment = multiea.align(task, engine=engine, training=training)
    scores = alignment.evaluate()
    f1, m_hits = scores["pairs"]["f1"], scores["m_hits"]["all"]
    seconds = sum(alignment.seconds.values())
    print(f"{engine:24} {f1:8.3f} {m_hits['1']:8.3f} {m_hits['10']:9.3f} {seconds:8.1f}")
