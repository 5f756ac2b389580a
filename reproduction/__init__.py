"""Reproduce: every table and figure of the four papers, computed anew and put beside what was printed.

One folder a paper, one small file a table or figure. A file holds an `ITEM`: where it stands in the paper, what is
claimed there, and a function that computes it from a seed. What we found is stored beside it (a JSON of the same name),
so that a change of ours that moves a number is noticed.

==================  ===========================================================================
`record`            a line (paper's number, ours, how far apart they may be), a record of lines
`item`              what an item is, and what it is given to compute with
`registry`          the papers and their items
`runner`            runs an item, keeps what it found, and skips it when nothing has changed
`pages`             writes `docs/explanation/reproduction.md` and `CLAIMS.md` from records
`plots`             the pictures
`simulated_counts`  drawing counts of reports, and distances between tables
==================  ===========================================================================
"""
