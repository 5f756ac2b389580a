"""Estimation: from evidence to tables with errors."""
