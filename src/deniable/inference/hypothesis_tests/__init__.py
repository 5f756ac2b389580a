"""Tests that hold their level."""
