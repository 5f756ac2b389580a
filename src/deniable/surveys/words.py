"""The words of the respondent's page. A survey says them otherwise, or in other languages, under `[texts]`.

`{name}` is a place that the page fills with a number. What a language has no word for here is said in English.
"""

from __future__ import annotations

WORDS: dict[str, dict[str, str]] = {
    "loading": {
        "en": "Your device is checking this survey …",
        "de": "Ihr Gerät prüft diese Umfrage …",
    },
    "no_script": {
        "en": "Your answer is disguised by a program in this page before it leaves your device. Your browser does not "
        "run it, so nothing can be answered here, and nothing is sent.",
        "de": "Ihre Antwort wird von einem Programm in dieser Seite verschleiert, bevor sie Ihr Gerät verlässt. Ihr "
        "Browser führt es nicht aus; daher kann hier nichts beantwortet werden, und nichts wird gesendet.",
    },
    "language": {"en": "Language", "de": "Sprache"},
    "closed_heading": {"en": "This survey is closed", "de": "Diese Umfrage ist geschlossen"},
    "closed": {"en": "It takes no answers at this time.", "de": "Zurzeit werden keine Antworten angenommen."},
    "intro_heading": {"en": "Before you begin", "de": "Bevor Sie beginnen"},
    "how_it_works": {
        "en": "Your device draws by chance what it will ask you, and then by chance whether to send your answer or "
        "another one. Nobody but you can tell which it was: not the people who run this survey, and nobody who takes "
        "their data. What they can work out is how many people, out of all, gave each answer.",
        "de": "Ihr Gerät lost aus, was es Sie fragt, und dann, ob es Ihre Antwort sendet oder eine andere. Welche es "
        "war, weiß niemand außer Ihnen: weder wer diese Umfrage betreibt, noch wer deren Daten an sich bringt. "
        "Errechnen lässt sich nur, wie viele von allen welche Antwort gaben.",
    },
    "belief": {
        "en": "Somebody who is undecided about you, 50 to 50, can become at most {belief}% sure from what you send.",
        "de": "Wer über Sie im Ungewissen ist, 50 zu 50, kann durch das Gesendete höchstens {belief}% sicher werden.",
    },
    "belief_before": {"en": "before", "de": "vorher"},
    "belief_after": {"en": "after, at most", "de": "nachher höchstens"},
    "account": {
        "en": "Your device computed this itself from the survey's numbers: epsilon {cost} at most. This browser gives "
        "this site at most {limit} in all; {left} is left.",
        "de": "Das hat Ihr Gerät selbst aus den Zahlen der Umfrage berechnet: höchstens Epsilon {cost}. Dieser Browser "
        "gibt dieser Website insgesamt höchstens {limit}; {left} sind übrig.",
    },
    "no_withdrawal": {
        "en": "An answer cannot be withdrawn once it is sent, because nobody can find it among the others.",
        "de": "Eine gesendete Antwort lässt sich nicht zurückziehen, denn niemand kann sie unter den anderen finden.",
    },
    "begin": {"en": "Begin", "de": "Beginnen"},
    "questions_heading": {"en": "Your answers", "de": "Ihre Antworten"},
    "clear_heading": {"en": "Sent as it is", "de": "Wird so gesendet, wie es ist"},
    "clear_note": {
        "en": "These answers are not disguised. They are kept coarse, so that many people give the same.",
        "de": "Diese Antworten werden nicht verschleiert. Sie sind grob gehalten, damit viele dieselbe geben.",
    },
    "disguised_heading": {"en": "Disguised before it is sent", "de": "Wird vor dem Senden verschleiert"},
    "not_asked": {
        "en": "There is a question here that does not apply to you. Your device sends a disguised answer all the same, "
        "so that nobody is missing.",
        "de": "Hier steht eine Frage, die auf Sie nicht zutrifft. Ihr Gerät sendet dennoch eine verschleierte Antwort, "
        "damit niemand fehlt.",
    },
    "together": {
        "en": "These are disguised together, as one combination.",
        "de": "Diese werden gemeinsam verschleiert, als eine Kombination.",
    },
    "chances": {
        "en": "Of 100 people with the same answer, about {kept} send it and {changed} send another one, by chance.",
        "de": "Von 100 Menschen mit derselben Antwort senden etwa {kept} diese und {changed} zufällig eine andere.",
    },
    "one_disguise": {
        "en": "Your answer is disguised once. You then see what will be sent, before it is sent.",
        "de": "Ihre Antwort wird einmal verschleiert. Dann sehen Sie, was gesendet wird, bevor es gesendet wird.",
    },
    "unanswered": {
        "en": "Please answer the marked question.",
        "de": "Bitte beantworten Sie die markierte Frage.",
    },
    "disguise": {"en": "Disguise my answers", "de": "Meine Antworten verschleiern"},
    "review_heading": {"en": "This is what will be sent", "de": "Das wird gesendet"},
    "review": {
        "en": "Your device has disguised your answers and forgotten them. What it sends may or may not be what you "
        "said; that is what protects you, and it stays as it is.",
        "de": "Ihr Gerät hat Ihre Antworten verschleiert und vergessen. Was es sendet, ist vielleicht, was Sie sagten, "
        "vielleicht auch nicht; das schützt Sie, und dabei bleibt es.",
    },
    "question_column": {"en": "Question", "de": "Frage"},
    "value_column": {"en": "What is sent", "de": "Was gesendet wird"},
    "as_it_is": {"en": "as it is", "de": "wie es ist"},
    "in_disguise": {"en": "in disguise", "de": "verschleiert"},
    "bytes": {"en": "To the letter", "de": "Buchstabe für Buchstabe"},
    "send": {"en": "Send", "de": "Senden"},
    "unsent_heading": {"en": "Not sent yet", "de": "Noch nicht gesendet"},
    "unsent": {
        "en": "The survey could not be reached. Your device keeps what it will send; try again now or come back later.",
        "de": "Die Umfrage war nicht zu erreichen. Ihr Gerät bewahrt auf, was es senden wird; versuchen Sie es jetzt "
        "oder später noch einmal.",
    },
    "again": {"en": "Try again", "de": "Noch einmal versuchen"},
    "done_heading": {"en": "Sent", "de": "Gesendet"},
    "done": {
        "en": "Your disguised answer has arrived and counts. This device answers this survey only once.",
        "de": "Ihre verschleierte Antwort ist angekommen und zählt. Dieses Gerät beantwortet diese Umfrage nur einmal.",
    },
    "rejected_heading": {"en": "Not taken", "de": "Nicht angenommen"},
    "rejected": {
        "en": "The survey did not take the report ({problem}). Nothing more is sent.",
        "de": "Die Umfrage hat die Meldung nicht angenommen ({problem}). Mehr wird nicht gesendet.",
    },
    "refused_heading": {"en": "Your device refuses this survey", "de": "Ihr Gerät lehnt diese Umfrage ab"},
    "refused": {
        "en": "It does not keep what it promises, so nothing was asked and nothing was sent: {reason}",
        "de": "Sie hält nicht, was sie verspricht; daher wurde nichts gefragt und nichts gesendet: {reason}",
    },
    "overdrawn_heading": {"en": "Enough is enough", "de": "Genug ist genug"},
    "overdrawn": {
        "en": "This survey may tell more about you (epsilon {cost}) than this browser still gives to this site ({left} "
        "of {limit}). What was given does not come back, so leave this survey out. Nothing was sent.",
        "de": "Diese Umfrage kann mehr über Sie verraten (Epsilon {cost}), als dieser Browser dieser Website noch gibt "
        "({left} von {limit}). Was gegeben ist, kommt nicht zurück; lassen Sie diese Umfrage aus. Nichts wurde "
        "gesendet.",
    },
    "failed_heading": {"en": "Something went wrong", "de": "Etwas ist schiefgegangen"},
    "failed": {
        "en": "Nothing was sent. Load this page again to go on where you were. ({failure})",
        "de": "Nichts wurde gesendet. Laden Sie die Seite neu, um dort fortzufahren, wo Sie waren. ({failure})",
    },
    "insecure_heading": {"en": "This connection is not safe", "de": "Diese Verbindung ist nicht sicher"},
    "insecure": {
        "en": "Somebody on the way could replace the program that disguises your answer. Ask for an address that "
        "begins with https://.",
        "de": "Unterwegs könnte jemand das Programm austauschen, das Ihre Antwort verschleiert. Verlangen Sie eine "
        "Adresse, die mit https:// beginnt.",
    },
    "program": {
        "en": "The program that disguises answers, and its SHA-256:",
        "de": "Das Programm, das Antworten verschleiert, und sein SHA-256:",
    },
}
