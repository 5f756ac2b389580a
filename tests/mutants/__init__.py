"""Small changes to the modules that promises rest on, each of which some test must notice.

`make mutants` runs it. `table` says which modules and which tests, `mutation` what is changed, `trial` how a changed
module is put under tests without touching a file, `command` what is shown and what is kept.
"""
