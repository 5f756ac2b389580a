"""Questionnaires of other programs."""
