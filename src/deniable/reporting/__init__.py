"""Charts as SVG, and the report as one HTML file."""
