"""The channels of the published systems, a kind a file: the mixtures of many blocks in one (RRBA)."""
