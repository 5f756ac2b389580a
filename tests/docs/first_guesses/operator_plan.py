"""How many respondents, at which epsilon? And is the survey file in order?"""

import deniable as dn
from exams import exams

survey = exams()
forecast = dn.plan(survey.domain, survey.epsilon, n=2000)
print(forecast)
assert forecast.recommended.epsilon <= survey.epsilon
