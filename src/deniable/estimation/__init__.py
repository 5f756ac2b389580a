"""Estimation: from observations to tables with errors."""
