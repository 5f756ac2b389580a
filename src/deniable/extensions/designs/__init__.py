"""The designs of the published systems, a kind a file: pairs of respondents (JRR), views in blocks (RRBA)."""
