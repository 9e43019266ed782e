"""Kernels: loops over sparse arrays, compiled by numba, for KGs too large for dense blocks.

Each computes a row at a time and writes nothing but that row, so that results depend neither on the number of threads
nor on how rows are split over tasks.
"""
