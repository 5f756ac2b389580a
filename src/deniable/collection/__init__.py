"""Collection: how disguised answers travel from a respondent's device to a store, and what each side checks."""
