"""Designs in blocks (RRBA): what is asked, what is published for each block, and who collects."""
