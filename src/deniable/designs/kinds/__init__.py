"""Designs, a kind a file: its class, its options, how it is made of a request, and what a plan proposes of it."""
