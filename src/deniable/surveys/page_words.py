"""The words of the respondent's page, which ship with the program.

Most of them state the promise: what is disguised, what travels in clear, how much can be learned, what is sent. No
survey can replace these, because whoever runs a survey could then promise what the program does not do. The few words
of `PLAIN` promise nothing; a survey says them otherwise, or in other languages, under `[texts]`.

`{name}` is a place that the page fills with a number. English and German stand here, further languages in `languages`;
in others the page speaks English.

`SENTENCES` says which word stands for which codes: why a device refuses a survey, and what a collector finds wrong.
"""

from __future__ import annotations

from deniable.surveys.languages import add_languages

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
    "invitation_heading": {"en": "Your invitation", "de": "Ihre Einladung"},
    "invitation": {
        "en": "This survey is by invitation. Open the link that you were given, or type or paste the invitation here.",
        "de": "Diese Umfrage ist nur für Eingeladene. Öffnen Sie den Link, den Sie bekommen haben, oder tippen oder "
        "kopieren Sie die Einladung hierher.",
    },
    "invitation_label": {"en": "Invitation", "de": "Einladung"},
    "enter": {"en": "Go on", "de": "Weiter"},
    "invited_note": {
        "en": "Whoever noted which invitation went to whom can tell that you took part, and which disguised report is "
        "yours. Your answers are disguised all the same.",
        "de": "Wer notiert hat, an wen welche Einladung ging, kann sehen, dass Sie teilgenommen haben und welche "
        "verschleierte Meldung Ihre ist. Ihre Antworten sind trotzdem verschleiert.",
    },
    "blind_promise": {
        "en": "Your device exchanges the invitation for an admission that nobody can connect with it, not even the "
        "people who run this survey.",
        "de": "Ihr Gerät tauscht die Einladung gegen eine Zulassung, die niemand mit ihr in Verbindung bringen kann, "
        "auch nicht, wer diese Umfrage betreibt.",
    },
    "blind_note": {
        "en": "Your device has exchanged your invitation for an admission that cannot be connected with it. What the "
        "clock tells is not hidden: you may answer now, or come back to this page on this device later, when nobody "
        "expects you.",
        "de": "Ihr Gerät hat Ihre Einladung gegen eine Zulassung getauscht, die mit ihr nicht in Verbindung zu "
        "bringen ist. Was die Uhr verrät, ist nicht verborgen: Sie können jetzt antworten oder später auf diesem "
        "Gerät zu dieser Seite zurückkommen, wenn niemand Sie erwartet.",
    },
    "another_invitation": {"en": "Use another invitation", "de": "Eine andere Einladung verwenden"},
    "intro_heading": {"en": "Before you begin", "de": "Bevor Sie beginnen"},
    "how_drawn": {
        "en": "Your device draws by chance what it will ask you.",
        "de": "Ihr Gerät lost aus, was es Sie fragt.",
    },
    "how_answers": {
        "en": "Your device decides by chance whether to send your answer or another one.",
        "de": "Ihr Gerät lost aus, ob es Ihre Antwort sendet oder eine andere.",
    },
    "how_sets": {
        "en": "Your device never sends your answer by itself. It sends a set of possible answers, drawn by chance.",
        "de": "Ihr Gerät sendet Ihre Antwort nie für sich. Es sendet eine ausgeloste Menge möglicher Antworten.",
    },
    "how_hidden": {
        "en": "Nobody but you can be certain what your answer was: not the people who run this survey, and nobody who "
        "takes their data.",
        "de": "Gewissheit über Ihre Antwort hat niemand außer Ihnen: weder wer diese Umfrage betreibt, noch wer deren "
        "Daten an sich bringt.",
    },
    "how_paired": {
        "en": "How well your answer is hidden depends on who asks. The red frame below says how well from whom.",
        "de": "Wie gut Ihre Antwort verborgen ist, hängt davon ab, wer fragt. Der rote Rahmen unten sagt, wie gut vor "
        "wem.",
    },
    "how_learned": {
        "en": "What can be worked out is how many people, out of all, gave each answer.",
        "de": "Errechnen lässt sich, wie viele von allen welche Antwort gaben.",
    },
    "sets_note": {
        "en": "Where there are many possible answers, your device sends a set of answers instead of one. Yours is in "
        "it somewhat more often than any other. Nobody can tell from the set which answer is yours, or whether it is "
        "in it.",
        "de": "Wo es viele mögliche Antworten gibt, sendet Ihr Gerät statt einer Antwort eine Menge von Antworten. "
        "Ihre ist etwas öfter darin als jede andere. Niemand kann der Menge ansehen, welche Antwort Ihre ist oder ob "
        "sie darin ist.",
    },
    "partly": {"en": "What nobody can learn from this survey", "de": "Was aus dieser Umfrage niemand erfahren kann"},
    "partly_note": {
        "en": "Some questions are asked for a few numbers alone, such as a mean. What everybody sends, taken together, "
        "tells so many of the independent sums of the shares of their answers; nobody can learn the others from it:",
        "de": "Manche Fragen werden nur um weniger Zahlen willen gestellt, etwa eines Mittelwerts. Was alle senden, "
        "verrät zusammen so viele der unabhängigen Summen der Anteile ihrer Antworten; die übrigen kann daraus "
        "niemand erfahren:",
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
    "adaptive_note": {
        "en": "How answers are disguised is published anew for each group of respondents. Your device checks the "
        "numbers of your group before it uses them; whatever they are, the bound above holds.",
        "de": "Wie Antworten verschleiert werden, wird für jede Gruppe von Befragten neu veröffentlicht. Ihr Gerät "
        "prüft die Zahlen Ihrer Gruppe, bevor es sie verwendet; wie sie auch sind, die Grenze oben gilt.",
    },
    "weaker_heading": {"en": "Weaker than usual: please read this", "de": "Schwächer als üblich: bitte lesen"},
    "weaker": {
        "en": "This survey pairs respondents: your device shares a coin with the device of somebody else, which makes "
        "the results more exact. How well your answers are hidden then depends on who asks. Somebody who is undecided "
        "about you, 50 to 50, can become at most this sure about all of your answers together:",
        "de": "Diese Umfrage bildet Paare: Ihr Gerät teilt eine Münze mit dem Gerät einer anderen Person, was die "
        "Ergebnisse genauer macht. Wie gut Ihre Antworten verborgen sind, hängt dann davon ab, wer fragt. Wer über "
        "Sie im Ungewissen ist, 50 zu 50, kann über all Ihre Antworten zusammen höchstens so sicher werden:",
    },
    "weaker_stranger": {
        "en": "A stranger: {strangersure}% (epsilon {claimed}). This is the number that is usually claimed; it is an "
        "average over who may be paired with whom.",
        "de": "Fremde: {strangersure}% (Epsilon {claimed}). Das ist die Zahl, die gewöhnlich behauptet wird; sie ist "
        "ein Durchschnitt darüber, wer mit wem ein Paar sein könnte.",
    },
    "weaker_partner": {
        "en": "Your partner, who knows whether their own answer was changed: {partnersure}% (epsilon {partner}).",
        "de": "Die andere Person des Paars, die weiß, ob ihre eigene Antwort geändert wurde: {partnersure}% (Epsilon "
        "{partner}).",
    },
    "weaker_coin": {
        "en": "Whoever knows the coin, which is your partner's device, or this server if it is not honest: "
        "{coinsure}% (epsilon {coin}). This is what your account is charged.",
        "de": "Wer die Münze kennt, also das andere Gerät, oder dieser Server, falls er nicht ehrlich ist: "
        "{coinsure}% (Epsilon {coin}). Das wird Ihrem Konto berechnet.",
    },
    "weaker_delta": {
        "en": "Against whoever knows the coin, epsilon {claimed} holds at delta {delta} only.",
        "de": "Wer die Münze kennt, für den gilt Epsilon {claimed} nur mit Delta {delta}.",
    },
    "weaker_alone": {
        "en": "If nobody is there to be paired with within a stated time, a minute at most, your device tosses the "
        "coin alone. That is ordinary randomized response.",
        "de": "Ist innerhalb einer angegebenen Zeit, höchstens einer Minute, niemand für ein Paar da, wirft Ihr Gerät "
        "die Münze allein. Das ist gewöhnliche randomisierte Antwort.",
    },
    "agree": {
        "en": "I have read this and agree to be paired.",
        "de": "Ich habe das gelesen und bin mit einem Paar einverstanden.",
    },
    "disagreed": {
        "en": "Please agree first, or leave this survey out.",
        "de": "Bitte stimmen Sie erst zu, oder lassen Sie diese Umfrage aus.",
    },
    "no_withdrawal": {
        "en": "An answer cannot be withdrawn once it is sent, because nobody can find it among the others.",
        "de": "Eine gesendete Antwort lässt sich nicht zurückziehen, denn niemand kann sie unter den anderen finden.",
    },
    "no_withdrawal_invited": {
        "en": "An answer cannot be withdrawn once it is sent: it is counted among the others at once.",
        "de": "Eine gesendete Antwort lässt sich nicht zurückziehen: Sie wird sofort unter den anderen gezählt.",
    },
    "begin": {"en": "Begin", "de": "Beginnen"},
    "questions_heading": {"en": "Your answers", "de": "Ihre Antworten"},
    "clear_heading": {"en": "Sent as it is", "de": "Wird so gesendet, wie es ist"},
    "clear_note": {
        "en": "These answers are not disguised. Whoever reads the report reads them.",
        "de": "Diese Antworten werden nicht verschleiert. Wer die Meldung liest, liest sie mit.",
    },
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
    "chances_adaptive": {
        "en": "Of 100 people with the same answer, at most {kept} send it on purpose; for the others an answer is "
        "drawn by chance, from odds that are the same for everybody in the group.",
        "de": "Von 100 Menschen mit derselben Antwort senden höchstens {kept} sie mit Absicht; für die anderen wird "
        "eine Antwort ausgelost, mit denselben Chancen für alle in der Gruppe.",
    },
    "chances_set": {
        "en": "A set of answers is sent, drawn by chance. Of 100 people with the same answer, about {kept} send a set "
        "that holds it; and take any one other answer, about {other} send a set that holds that.",
        "de": "Gesendet wird eine ausgeloste Menge von Antworten. Von 100 Menschen mit derselben Antwort senden etwa "
        "{kept} eine Menge, in der sie ist; und etwa {other} eine, in der eine bestimmte andere Antwort ist, welche "
        "man auch nimmt.",
    },
    "chances_again": {
        "en": "Your device disguises this answer once and keeps the disguise for the panel. Each time it sends it, it "
        "changes it by chance once more, so that it is harder to recognise you by what you send.",
        "de": "Ihr Gerät verschleiert diese Antwort einmal und behält das Ergebnis für das Panel. Jedes Mal, wenn es "
        "sendet, verändert es das Behaltene noch einmal zufällig, damit man Sie am Gesendeten weniger leicht "
        "wiedererkennt.",
    },
    "set_own": {"en": "the set holds your answer", "de": "Ihre Antwort ist in der Menge"},
    "set_other": {"en": "the set holds a given other answer", "de": "eine bestimmte andere Antwort ist in der Menge"},
    "one_disguise": {
        "en": "Your answer is disguised once. You then see what will be sent, before it is sent.",
        "de": "Ihre Antwort wird einmal verschleiert. Dann sehen Sie, was gesendet wird, bevor es gesendet wird.",
    },
    "unanswered": {
        "en": "Please answer the marked question.",
        "de": "Bitte beantworten Sie die markierte Frage.",
    },
    "disguise": {"en": "Disguise my answers", "de": "Meine Antworten verschleiern"},
    "waiting_heading": {"en": "Looking for a partner", "de": "Eine zweite Person wird gesucht"},
    "waiting": {
        "en": "Your device looks for another device that answers at this moment, to share a coin with. Nothing about "
        "your answers is sent for this.",
        "de": "Ihr Gerät sucht ein anderes Gerät, auf dem gerade geantwortet wird, um mit ihm eine Münze zu teilen. "
        "Über Ihre Antworten wird dafür nichts gesendet.",
    },
    "waiting_left": {
        "en": "At most {seconds} more seconds; then it goes on alone.",
        "de": "Noch höchstens {seconds} Sekunden; dann geht es allein weiter.",
    },
    "review_heading": {"en": "This is what will be sent", "de": "Das wird gesendet"},
    "review": {
        "en": "Your device has disguised your answers and forgotten them. What it sends may or may not be what you "
        "said; that is what protects you, and it stays as it is.",
        "de": "Ihr Gerät hat Ihre Antworten verschleiert und vergessen. Was es sendet, ist vielleicht, was Sie sagten, "
        "vielleicht auch nicht; das schützt Sie, und dabei bleibt es.",
    },
    "review_set": {
        "en": "A set of answers does not say which of them is yours, nor that yours is among them.",
        "de": "Eine Menge von Antworten sagt nicht, welche davon Ihre ist, und auch nicht, dass Ihre darunter ist.",
    },
    "bin_first": {"en": "below {high}", "de": "unter {high}"},
    "bin_between": {"en": "{low} to below {high}", "de": "{low} bis unter {high}"},
    "bin_last": {"en": "{low} or more", "de": "{low} oder mehr"},
    "number_hint": {"en": "A number from {low} to {high}", "de": "Eine Zahl von {low} bis {high}"},
    "number_unread": {
        "en": "This is no number that can be read. Please write it in digits.",
        "de": "Das lässt sich nicht als Zahl lesen. Bitte schreiben Sie sie in Ziffern.",
    },
    "number_which": {"en": "Which number do you mean?", "de": "Welche Zahl meinen Sie?"},
    "number_outside": {
        "en": "Is this right? It lies outside the numbers that were expected. If it is right, just go on: it counts "
        "with the nearest ones.",
        "de": "Stimmt das? Es liegt außerhalb der erwarteten Zahlen. Wenn es stimmt, gehen Sie einfach weiter: Es "
        "zählt dann zu den nächstliegenden.",
    },
    "search": {"en": "Search these answers", "de": "In diesen Antworten suchen"},
    "search_found": {"en": "{found} of {all} shown", "de": "{found} von {all} gezeigt"},
    "question_column": {"en": "Question", "de": "Frage"},
    "value_column": {"en": "What is sent", "de": "Was gesendet wird"},
    "as_it_is": {"en": "as it is", "de": "wie es ist"},
    "in_disguise": {"en": "in disguise", "de": "verschleiert"},
    "in_a_set": {"en": "a set, in disguise", "de": "eine Menge, verschleiert"},
    "set_empty": {"en": "A set with no answer in it.", "de": "Eine Menge ohne eine Antwort darin."},
    "set_more": {"en": "and {more} more", "de": "und {more} weitere"},
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
    "follow_note": {
        "en": "The numbers that disguised your answer should have been the same for everybody in your group. Your "
        "device kept them and can compare.",
        "de": "Die Zahlen, mit denen Ihre Antwort verschleiert wurde, sollten für alle in Ihrer Gruppe dieselben "
        "gewesen sein. Ihr Gerät hat sie behalten und kann vergleichen.",
    },
    "follow": {"en": "Compare now", "de": "Jetzt vergleichen"},
    "followed": {
        "en": "Groups so far: {blocks}. The numbers of each follow those of the one before, and yours are among them.",
        "de": "Gruppen bisher: {blocks}. Die Zahlen jeder folgen auf die der vorigen, und Ihre sind darunter.",
    },
    "rejected_heading": {"en": "Not taken", "de": "Nicht angenommen"},
    "rejected": {
        "en": "The survey did not take the report. {problem} Nothing more is sent.",
        "de": "Die Umfrage hat die Meldung nicht angenommen. {problem} Mehr wird nicht gesendet.",
    },
    "refused_heading": {"en": "Your device refuses this survey", "de": "Ihr Gerät lehnt diese Umfrage ab"},
    "refused": {
        "en": "It does not keep what it promises, so no answer was sent. {reason}",
        "de": "Sie hält nicht, was sie verspricht; daher wurde keine Antwort gesendet. {reason}",
    },
    "detail": {"en": "To be exact", "de": "Genauer"},
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
    "unsupported_heading": {"en": "This browser cannot share a coin", "de": "Dieser Browser kann keine Münze teilen"},
    "unsupported": {
        "en": "This survey pairs respondents. Two devices agree on a coin by a method (X25519) that this browser does "
        "not have. Please use a current version of Chrome, Edge, Firefox or Safari. Nothing was asked and nothing was "
        "sent.",
        "de": "Diese Umfrage bildet Paare. Zwei Geräte einigen sich auf eine Münze mit einem Verfahren (X25519), das "
        "dieser Browser nicht hat. Bitte verwenden Sie eine aktuelle Version von Chrome, Edge, Firefox oder Safari. "
        "Nichts wurde gefragt und nichts gesendet.",
    },
    "problem_uninvited": {
        "en": "Please type the invitation that you were given.",
        "de": "Bitte tippen Sie die Einladung ein, die Sie bekommen haben.",
    },
    "problem_not_invited": {
        "en": "This invitation is not known here. Compare it with the one that you were given, letter by letter.",
        "de": "Diese Einladung ist hier nicht bekannt. Vergleichen Sie sie Buchstabe für Buchstabe mit der, die Sie "
        "bekommen haben.",
    },
    "problem_used": {"en": "This invitation was used already.", "de": "Diese Einladung wurde schon verwendet."},
    "problem_closed": {
        "en": "The survey takes no answers at this time.",
        "de": "Die Umfrage nimmt zurzeit keine Antworten an.",
    },
    "problem_answered": {
        "en": "This device has answered this survey already; only its words were corrected since.",
        "de": "Dieses Gerät hat diese Umfrage schon beantwortet; seither wurden nur ihre Worte berichtigt.",
    },
    "problem_passing": {
        "en": "The survey cannot be reached at this time. Please try again in a moment.",
        "de": "Die Umfrage ist zurzeit nicht zu erreichen. Bitte versuchen Sie es gleich noch einmal.",
    },
    "problem_misfit": {
        "en": "What was sent does not fit this survey.",
        "de": "Was gesendet wurde, passt nicht zu dieser Umfrage.",
    },
    "problem_other": {
        "en": "It gave a reason that this program does not know.",
        "de": "Sie nannte einen Grund, den dieses Programm nicht kennt.",
    },
    "reason_promise": {
        "en": "Its numbers would tell more about you than it promises.",
        "de": "Ihre Zahlen würden mehr über Sie verraten, als sie verspricht.",
    },
    "reason_certain": {
        "en": "Some answers could be told for certain from what is sent.",
        "de": "Manche Antworten ließen sich aus dem Gesendeten mit Gewissheit ablesen.",
    },
    "reason_pseudonym": {
        "en": "Too many people could be recognised by what they send whenever they are asked again.",
        "de": "Zu viele Menschen könnte man am Gesendeten wiedererkennen, sooft sie wieder gefragt werden.",
    },
    "reason_vain": {
        "en": "Nothing could be learned from what is sent, so answering would be in vain.",
        "de": "Aus dem Gesendeten ließe sich nichts lernen; zu antworten wäre vergeblich.",
    },
    "reason_another": {
        "en": "What this device was shown is not what was announced to everybody.",
        "de": "Was diesem Gerät gezeigt wurde, ist nicht, was allen angekündigt wurde.",
    },
    "reason_elsewhere": {
        "en": "It was made for another address, and is shown here by somebody else.",
        "de": "Sie wurde für eine andere Adresse gemacht und wird hier von jemand anderem gezeigt.",
    },
    "reason_unknown": {
        "en": "It asks for something that this program does not know.",
        "de": "Sie verlangt etwas, das dieses Programm nicht kennt.",
    },
    "reason_issuer": {
        "en": "The key that signs admissions is not the published one, or is no good.",
        "de": "Der Schlüssel, der Zulassungen unterschreibt, ist nicht der veröffentlichte, oder er taugt nichts.",
    },
    "reason_numbers": {"en": "Its numbers are not in order.", "de": "Ihre Zahlen sind nicht in Ordnung."},
}

add_languages(WORDS)

# The word for a code, of a device's refusal or of a collector's problem; the last one for all that are not here.
SENTENCES: dict[str, str] = {
    "problem_uninvited": "uninvited",
    "problem_not_invited": "not-invited",
    "problem_used": "used conflict",
    "problem_closed": "closed",
    "problem_answered": "answered",
    "unanswered": "bad-answer",
    "disagreed": "no-consent",
    "problem_passing": "unreachable busy too-slow unavailable full failed",
    "problem_misfit": "unfit unknown-block unknown-design repeated-key reworded",
    "reason_promise": "epsilon-exceeded epsilon keep floor",
    "reason_certain": "zero-weight zero",
    "reason_pseudonym": "pseudonym",
    "reason_vain": "tells-nothing",
    "reason_another": "wrong-hash not-canonical design chain wrong-texts form-unfit another-design too-dear",
    "reason_elsewhere": "not-for-here",
    "reason_unknown": "unknown-version unknown-field unknown-channel unknown-coder",
    "reason_issuer": "unsound-issuer another-issuer wrong-signature",
    "reason_numbers": "malformed too-large repeated-name too-few-categories unknown-attribute wrong-bits wrong-sum "
    "wrong-cells unknown-question empty-ballot attribute-twice questions sum wrong-items wrong-coder wrong-rule "
    "wrong-admission wrong-audience wrong-panel wrong-blocks wrong-weights leftover too-many",
    "problem_other": "",
}
