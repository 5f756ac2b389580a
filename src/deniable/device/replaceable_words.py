"""Which texts of the page are a survey's own: those around its questions, and the program's words that it may replace.

Nothing is imported: the page is put together where a package is built, which has the standard library alone.
"""

from __future__ import annotations

# What a survey may say around its questions; empty where the file leaves it out.
AROUND = ("welcome", "thanks", "contact")
# Words that promise nothing, and that a survey may replace.
PLAIN = (
    "language",
    "closed_heading",
    "closed",
    "invitation_heading",
    "invitation",
    "invitation_label",
    "enter",
    "another_invitation",
    "begin",
    "questions_heading",
    "unanswered",
    "question_column",
    "unsent_heading",
    "again",
    "done_heading",
)
