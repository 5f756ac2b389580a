"""How the documentation site is built: `make docs`.

The source folder is the root of the repository, so that README, GLOSSARY and the like are pages where they lie, and a
relative link between two files means the same here as on a forge that shows the files.
"""  # noqa: INP001 - Sphinx reads this file; nobody imports it

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

project = "deniable"
author = "the deniable authors"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [".*", "build", "deniable-*", "dist", "src", "tests", "docs/_*"]

# The last three are ours, in docs/_sphinx.
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "site_commands",
    "site_names",
    "site_notebook",
]

# --- links: whatever is not found is an error -------------------------------------------------------------------------

nitpicky = True
# In signatures, types that are not public names of ours are named without a link.
nitpick_ignore_regex = [("py:.*", r"(?!deniable\.\w+$).*")]
myst_heading_anchors = 4

# --- the reference: docstrings are reStructuredText in Google's form --------------------------------------------------

default_role = "code"
add_module_names = False
toc_object_entries = False  # each room begins with a list of its names
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
python_maximum_signature_line_length = 100

# --- how it looks -----------------------------------------------------------------------------------------------------

html_theme = "furo"
html_title = "deniable"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_show_copyright = False
highlight_language = "none"
