"""Channels whose report speaks for several categories."""
