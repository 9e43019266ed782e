"""Aligns two files of triples: `python align_two_files.py ONE TWO SEEDS` prints the found groups, best first.

Without arguments it first writes small files of its own.
"""

import sys
import tempfile
from pathlib import Path

import multiea

ENGLISH = """head,relation,tail
Norway,capital,Oslo
Norway,borders,Sweden
Norway,borders,Finland
Sweden,capital,Stockholm
Sweden,borders,Finland
Finland,capital,Helsinki
"""
NORSK = """head,relation,tail
Norge,hovedstad,Oslo by
Norge,naboland,Sverige
Norge,naboland,Suomi
Sverige,hovedstad,Stockholm by
Suomi,hovedstad,Helsingfors
"""
SEEDS = "english,norsk\nNorway,Norge\nSweden,Sverige\n"

files = [Path(argument) for argument in sys.argv[1:]]
if not files:
    folder = Path(tempfile.mkdtemp())
    files = [folder / name for name in ("english.csv", "norsk.csv", "seeds.csv")]
    for file, text in zip(files, (ENGLISH, NORSK, SEEDS), strict=True):
        file.write_text(text, encoding="utf-8")
*kgs, seeds = files
alignment = multiea.align(multiea.load(kgs, seeds=seeds))
for group in alignment.found.groups.to_table(alignment.task.kgs).iter_rows():
    print(" = ".join(group))
