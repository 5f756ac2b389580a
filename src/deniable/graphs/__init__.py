"""Graphs whose edges are secrets: every pair of nodes reports through a coin, degrees and triangles are estimated.

=================  =============================================================================================
`graph`            the true graph, checked
`edges`            edge-local randomized response, and who reports an edge
`noisy`            what was reported
`statistics`       unbiased degrees and triangles, with variances in closed form; shrunk degrees
`resampled`        a graph drawn to fit the reports
`comparators`      Laplace noise: local, for the global and for the smooth sensitivity
`statement`        the privacy of an edge and of a person
`files`            edge lists and bit-packed reports
`pair_sets`        sets of pairs in bounded memory
`coins`            packed coins of exact bias
=================  =============================================================================================
"""

from __future__ import annotations

from deniable._public import answer
from deniable.graphs.degrees_and_triangles import (
    NodeEstimate,
    Total,
    degree_variance,
    noise,
    triangle_total_variance,
    triangle_variance,
)
from deniable.graphs.edge_statement import EdgeStatement
from deniable.graphs.edges import randomize
from deniable.graphs.graph import Graph
from deniable.graphs.graph_files import read_graph, read_noisy_graph, write_graph, write_noisy_graph
from deniable.graphs.laplace_comparators import Released, laplace_global, laplace_local, laplace_smooth
from deniable.graphs.noisy_graph import NoisyGraph
from deniable.graphs.resampled_graph import resampled
from deniable.graphs.rows import NoisyRow, merge_rows, randomize_row, read_rows, write_row

__all__ = [
    "EdgeStatement",
    "Graph",
    "NodeEstimate",
    "NoisyGraph",
    "NoisyRow",
    "Released",
    "Total",
    "degree_variance",
    "laplace_global",
    "laplace_local",
    "laplace_smooth",
    "merge_rows",
    "noise",
    "randomize",
    "randomize_row",
    "read_graph",
    "read_noisy_graph",
    "read_rows",
    "resampled",
    "triangle_total_variance",
    "triangle_variance",
    "write_graph",
    "write_noisy_graph",
    "write_row",
]

answer(globals(), __all__)
