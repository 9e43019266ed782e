"""Aligns one data set by several engines: `python compare_engines.py [DATASET]` prints their scores."""

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

print(f"{'engine':24} {'M-Hits@1':>8} {'M-Hits@10':>9} {'pair F1':>8} {'seconds':>8}")
for engine in ("propagation", "multiea", "gcn-align", "propagation+multiea"):
    trained = engine != "propagation"
    training = multiea.Training(dimensions=64, epochs=30) if trained else None  # few, to be done soon
    alignment = multiea.align(task, engine=engine, training=training)
    scores = alignment.evaluate()
    of_all = scores["m_hits"]["all"]
    seconds = sum(alignment.seconds.values())
    print(f"{engine:24} {of_all['1']:8.3f} {of_all['10']:9.3f} {scores['pairs']['f1']:8.3f} {seconds:8.1f}")
