"""Channels: column-stochastic maps from truth to report, one a file."""
