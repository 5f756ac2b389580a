"""What may be promised to respondents, and the paragraphs for the ethics board."""

from deniable.reporting.markdown import markdown
from deniable.reporting.methods_section import facts_of_survey, methods
from exams import exams

survey = exams()
print(survey.design.describe())
assert "epsilon = 2.0000" in markdown(methods(facts_of_survey(survey)))
