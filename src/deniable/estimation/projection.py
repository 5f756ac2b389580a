"""Onto the simplex: the nearest table without negative cells and with total one."""

from __future__ import annotations

from deniable.tables.simplex import norm_sub, norm_sub_rows

__all__ = ["norm_sub", "norm_sub_rows"]
