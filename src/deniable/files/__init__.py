"""File formats of reports: Parquet, CSV, SPSS, Stata, on disk or in object stores."""
