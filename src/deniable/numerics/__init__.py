"""Root finding, Newton steps, simplex: one place, SciPy's where it has them."""
