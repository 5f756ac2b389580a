"""The sentences of `methods`, in English and German. Places in braces are the design's own numbers and words."""

from __future__ import annotations

SENTENCES: dict[str, dict[str, str]] = {
    "a_survey": {
        "en": "a survey",
        "de": "eine Umfrage",
    },
    "title": {
        "en": "Paragraphs for {title}",
        "de": "Absätze zu: {title}",
    },
    "lead": {
        "en": "Made from the design itself: every number is computed from what is executed, and bounds are rounded up. "
        "What only you know stands in square brackets.",
        "de": "Aus dem Design selbst gemacht: Jede Zahl ist aus dem berechnet, was ausgeführt wird, und Grenzen sind "
        "aufgerundet. Was nur Sie wissen, steht in eckigen Klammern.",
    },
    "participants_heading": {
        "en": "Information for participants",
        "de": "Information für Teilnehmende",
    },
    "board_heading": {
        "en": "For the ethics board",
        "de": "Für die Ethikkommission",
    },
    "methods_heading": {
        "en": "Methods",
        "de": "Methoden",
    },
    "data_heading": {
        "en": "Data statement",
        "de": "Angaben zu den Daten",
    },
    "references_heading": {
        "en": "References",
        "de": "Literatur",
    },
    "about": {
        "en": "We ask you to take part in “{title}”. [Who you are, what the survey is for, how long it takes.]",
        "de": "Wir bitten Sie um Teilnahme an „{title}“. [Wer Sie sind, wozu die Umfrage dient, wie lange sie dauert.]",
    },
    "device": {
        "en": "Your answers are disguised by your own device, and only the disguise is sent.",
        "de": "Ihre Antworten verschleiert Ihr eigenes Gerät, und nur das Verschleierte wird gesendet.",
    },
    "how_answers": {
        "en": "{which} the device decides by chance whether to send the answer or another one.",
        "de": "{which} lost das Gerät aus, ob es die Antwort sendet oder eine andere.",
    },
    "how_sets": {
        "en": "{which} the device sends a set of answers, drawn by chance, which holds the given one more often "
        "than any other, and need not hold it.",
        "de": "{which} sendet das Gerät eine ausgeloste Menge von Antworten, in der die gegebene öfter ist als "
        "jede andere, aber nicht sein muss.",
    },
    "drawn": {
        "en": "The device draws by chance, whatever the answers are, which of {ballots} sets of questions the "
        "report is about; which one it was is not hidden.",
        "de": "Das Gerät lost, unabhängig von den Antworten, aus, welchem von {ballots} Fragenbündeln die Meldung "
        "gilt; welches es war, ist nicht verborgen.",
    },
    "learned": {
        "en": "From all reports together it can be worked out how many people gave each answer.",
        "de": "Aus allen Meldungen zusammen lässt sich errechnen, wie viele Menschen welche Antwort gaben.",
    },
    "belief": {
        "en": "Somebody who is undecided about you, 50 to 50, can become at most {half}% sure from everything you "
        "send; somebody who gave it 5%, at most {twentieth}%.",
        "de": "Wer über Sie im Ungewissen ist, 50 zu 50, kann durch alles Gesendete höchstens {half} % sicher "
        "werden; wer es zu 5 % glaubte, höchstens {twentieth} %.",
    },
    "clear": {
        "en": "Not disguised, and outside this bound, are the answers to: {names}.",
        "de": "Nicht verschleiert, und außerhalb dieser Grenze, sind die Antworten auf: {names}.",
    },
    "participation": {
        "en": "That you take part is not disguised, only what you answer.",
        "de": "Dass Sie teilnehmen, wird nicht verschleiert, nur was Sie antworten.",
    },
    "participation_blind": {
        "en": "Your device exchanges the invitation for an admission that cannot be connected with it. What is "
        "not disguised is that the invitation was used.",
        "de": "Ihr Gerät tauscht die Einladung gegen eine Zulassung, die sich mit ihr nicht in Verbindung bringen "
        "lässt. Nicht verschleiert wird, dass die Einladung benutzt wurde.",
    },
    "voluntary": {
        "en": "[That taking part is voluntary, how to withdraw, whom to ask.]",
        "de": "[Dass die Teilnahme freiwillig ist, wie man sie beendet, wen man fragen kann.]",
    },
    "no_withdrawal": {
        "en": "A report that was sent cannot be taken back: it is not known whose it is.",
        "de": "Eine gesendete Meldung lässt sich nicht zurückziehen: Es ist nicht bekannt, von wem sie ist.",
    },
    "board_technique": {
        "en": "Sensitive answers are collected by randomized response: each respondent's own device disguises the "
        "answers, and the researchers receive only the disguise.",
        "de": "Heikle Antworten werden durch Randomized Response erhoben: Das Gerät der Befragten verschleiert "
        "die Antworten, und die Forschenden erhalten nur das Verschleierte.",
    },
    "board_epsilon": {
        "en": "The design is locally differentially private with a total of epsilon = {epsilon} a respondent "
        "(rounded up), over all questions together.",
        "de": "Das Design ist lokal differentiell privat mit insgesamt Epsilon = {epsilon} je Person "
        "(aufgerundet), über alle Fragen zusammen.",
    },
    "board_meaning": {
        "en": "That is: whatever anybody knows already, everything that one person sends shifts the odds between "
        "any two possible answers by a factor of at most {factor}. A suspicion of 50% can become at most "
        "{half}%, one of 5% at most {twentieth}%. Every report can have come from every answer, so that no "
        "report proves anything.",
        "de": "Das heißt: Was immer jemand schon weiß, alles, was eine Person sendet, verschiebt die Chancen "
        "zwischen zwei möglichen Antworten höchstens um den Faktor {factor}. Aus einem Verdacht von 50 % "
        "können höchstens {half} % werden, aus einem von 5 % höchstens {twentieth} %. Jede Meldung kann aus "
        "jeder Antwort entstanden sein; keine beweist etwas.",
    },
    "board_exact": {
        "en": "The number is computed from the whole numbers that the devices draw with (ratio {ratio}), not from "
        "intended probabilities, and each device computes it itself before it asks anything.",
        "de": "Die Zahl ist aus den ganzen Zahlen berechnet, mit denen die Geräte losen (Verhältnis {ratio}), "
        "nicht aus beabsichtigten Wahrscheinlichkeiten, und jedes Gerät berechnet sie selbst, bevor es "
        "etwas fragt.",
    },
    "board_stored": {
        "en": "The collector stores of each report its disguised answers and what is public, with no address and "
        "no time, under a key that tells nothing; in what order reports came can no longer be seen once the "
        "survey is closed.",
        "de": "Der Sammeldienst speichert von jeder Meldung die verschleierten Antworten und was öffentlich ist, "
        "ohne Adresse und ohne Uhrzeit, unter einem Schlüssel, der nichts verrät; in welcher Reihenfolge "
        "Meldungen kamen, ist nicht mehr zu sehen, sobald die Umfrage geschlossen ist.",
    },
    "admission_open": {
        "en": "Anybody who has the link can answer, so that somebody may answer more than once.",
        "de": "Wer den Link hat, kann antworten; daher kann jemand auch mehrmals antworten.",
    },
    "admission_invited": {
        "en": "Respondents are invited, each with a secret of their own: whoever noted which invitation went to "
        "whom can tell who took part, and which disguised report is whose. The bound above holds all the "
        "same.",
        "de": "Befragte werden eingeladen, jede Person mit einem eigenen Geheimnis: Wer notiert hat, an wen "
        "welche Einladung ging, kann erkennen, wer teilnahm und wessen verschleierte Meldung welche ist. "
        "Die Grenze oben gilt trotzdem.",
    },
    "admission_blind": {
        "en": "Respondents are invited, and exchange the invitation for a blindly signed admission: who used an "
        "invitation is known, which report came of it is not.",
        "de": "Befragte werden eingeladen und tauschen die Einladung gegen eine blind unterschriebene Zulassung: "
        "Wer seine Einladung benutzte, ist bekannt, welche Meldung daraus wurde, nicht.",
    },
    "adaptive": {
        "en": "How answers are disguised is published anew for each group of respondents; the bound holds for "
        "every group, and each device checks it.",
        "de": "Wie Antworten verschleiert werden, wird für jede Gruppe von Befragten neu veröffentlicht; die "
        "Grenze gilt für jede Gruppe, und jedes Gerät prüft sie.",
    },
    "panel": {
        "en": "This is one of several surveys of the same people. Asked again, a device goes on from the disguise "
        "that it keeps of these answers, and draws no other: {names}. Asking often tells no more about them. If at "
        "least {people} people take part, at most {found} in 100 of them can be recognised by what they send, "
        "whatever else is known about them; if fewer do, it can be more: of {few} people, {more} in 100.",
        "de": "Dies ist eine von mehreren Umfragen unter denselben Menschen. Erneut gefragt, geht ein Gerät von "
        "der Verschleierung aus, die es von diesen Antworten behält, und lost keine andere: {names}. Häufiges "
        "Fragen verrät nicht mehr darüber. Wenn mindestens {people} Menschen teilnehmen, sind höchstens {found} "
        "von 100 an dem zu erkennen, was sie senden, was auch sonst über sie bekannt ist; nehmen weniger teil, "
        "können es mehr sein: von {few} Menschen {more} von 100.",
    },
    "board_limits": {
        "en": "Not hidden are: that somebody took part, what is public, what somebody tells others, and what can "
        "be seen on the respondent's own screen. Several surveys of the same people add up. [Who operates "
        "the collector, how long data are kept.]",
        "de": "Nicht verborgen sind: dass jemand teilnahm, was öffentlich ist, was jemand anderen erzählt und was "
        "auf dem eigenen Bildschirm zu sehen ist. Mehrere Umfragen unter denselben Menschen addieren sich. "
        "[Wer den Sammeldienst betreibt, wie lange Daten aufbewahrt werden.]",
    },
    "methods_technique": {
        "en": "Answers were collected by randomized response (Warner 1965) under local differential privacy "
        "(Kasiviswanathan et al. 2011), with deniable {version}.",
        "de": "Die Antworten wurden durch Randomized Response (Warner 1965) unter lokaler Differential Privacy "
        "(Kasiviswanathan et al. 2011) mit deniable {version} erhoben.",
    },
    "methods_technique_alone": {
        "en": "Answers were collected by randomized response (Warner 1965), with deniable {version}.",
        "de": "Die Antworten wurden durch Randomized Response (Warner 1965) mit deniable {version} erhoben.",
    },
    "methods_n": {
        "en": "{n} reports came in.",
        "de": "{n} Meldungen gingen ein.",
    },
    "methods_epsilon": {
        "en": "A respondent's whole report has epsilon = {epsilon}, computed from the integer probabilities that "
        "were executed and rounded up: it shifts anybody's odds about the respondent by a factor of at most "
        "{factor}.",
        "de": "Die ganze Meldung einer Person hat Epsilon = {epsilon}, aus den ausgeführten ganzzahligen "
        "Wahrscheinlichkeiten berechnet und aufgerundet: Sie verschiebt die Chancen irgendjemandes über "
        "diese Person höchstens um den Faktor {factor}.",
    },
    "methods_hash": {
        "en": "The design has the SHA-256 {hash}.",
        "de": "Das Design hat den SHA-256 {hash}.",
    },
    "methods_estimates": {
        "en": "Shares were estimated from all reports through the known probabilities, by maximum likelihood "
        "(Dempster, Laird and Rubin 1977), with standard errors and score intervals (Wilson 1927) of the "
        "efficient unbiased estimate as far as they lie between 0 and 1, which include the noise of the disguise. "
        "The questions and their disguise:",
        "de": "Anteile wurden aus allen Meldungen durch die bekannten Wahrscheinlichkeiten geschätzt, mit Maximum "
        "Likelihood (Dempster, Laird und Rubin 1977); Standardfehler und Score-Intervalle (Wilson 1927) "
        "gehören zur effizienten unverzerrten Schätzung, soweit sie zwischen 0 und 1 liegen, und enthalten das "
        "Rauschen der Verschleierung. Die Fragen und ihre Verschleierung:",
    },
    "methods_sets": {
        "en": "Shares were estimated from all reports through the known probabilities, with standard errors and "
        "score intervals (Wilson 1927) that include the noise of the disguise; each table names its method. "
        "The questions and their disguise:",
        "de": "Anteile wurden aus allen Meldungen durch die bekannten Wahrscheinlichkeiten geschätzt, mit "
        "Standardfehlern und Score-Intervallen (Wilson 1927), die das Rauschen der Verschleierung "
        "enthalten; jede Tabelle nennt ihr Verfahren. Die Fragen und ihre Verschleierung:",
    },
    "data_n": {
        "en": "The data are {n} disguised reports; true answers were never collected.",
        "de": "Die Daten sind {n} verschleierte Meldungen; wahre Antworten wurden nie erhoben.",
    },
    "data_planned": {
        "en": "The data will be disguised reports; true answers are never collected.",
        "de": "Die Daten werden verschleierte Meldungen sein; wahre Antworten werden nie erhoben.",
    },
    "data_bound": {
        "en": "Whoever gets them learns about one person at most what epsilon = {epsilon} allows.",
        "de": "Wer sie bekommt, erfährt über eine Person höchstens, was Epsilon = {epsilon} zulässt.",
    },
    "data_share": {
        "en": "Counts of reports are not counts of answers: they need the design, which lies with them. [Where "
        "the data are, and who may have them.]",
        "de": "Zahlen von Meldungen sind keine Zahlen von Antworten: Sie brauchen das Design, das bei ihnen "
        "liegt. [Wo die Daten liegen und wer sie haben darf.]",
    },
    "data_hash": {
        "en": "The design's SHA-256 is {hash}.",
        "de": "Der SHA-256 des Designs ist {hash}.",
    },
    "how_signs": {
        "en": "{which} the device sends one sign out of a published list, drawn by chance: each is likelier after "
        "some answers than after others, and possible after all of them.",
        "de": "{which} sendet das Gerät ein ausgelostes Zeichen aus einer veröffentlichten Liste: Jedes ist nach "
        "einigen Antworten wahrscheinlicher als nach anderen und nach allen möglich.",
    },
    "of_all": {
        "en": "For a disguised question",
        "de": "Bei einer verschleierten Frage",
    },
    "of_some": {
        "en": "For some of the disguised questions",
        "de": "Bei einigen der verschleierten Fragen",
    },
    "learned_in_part": {
        "en": "From all reports together the numbers can be worked out that the survey was made for, but not for "
        "every question how many people gave each answer.",
        "de": "Aus allen Meldungen zusammen lassen sich die Zahlen errechnen, für die die Umfrage gemacht ist, "
        "aber nicht bei jeder Frage, wie viele Menschen welche Antwort gaben.",
    },
    "in_ranges": {
        "en": "Of a number only the range in which it lies is used; that is done on the device, before anything is "
        "disguised: {names}.",
        "de": "Von einer Zahl wird nur der Bereich verwendet, in dem sie liegt; das geschieht auf dem Gerät, bevor "
        "etwas verschleiert wird: {names}.",
    },
    "participation_blind_blocks": {
        "en": "Your device exchanges the invitation for an admission that cannot be connected with it. But how "
        "answers are disguised is published anew for each group of respondents, and whoever makes a group "
        "for you alone can tell which report is yours. The bound on your answers holds all the same. What is "
        "not disguised is that the invitation was used.",
        "de": "Ihr Gerät tauscht die Einladung gegen eine Zulassung, die sich mit ihr nicht in Verbindung bringen "
        "lässt. Wie Antworten verschleiert werden, wird aber für jede Gruppe von Befragten neu "
        "veröffentlicht, und wer eine Gruppe für Sie allein macht, kann erkennen, welche Meldung Ihre ist. "
        "Die Grenze für Ihre Antworten gilt trotzdem. Nicht verschleiert wird, dass die Einladung benutzt "
        "wurde.",
    },
    "admission_blind_blocks": {
        "en": "Respondents are invited, and exchange the invitation for a blindly signed admission: who used an "
        "invitation is known, which report came of it only to somebody who made a group of respondents for "
        "one person alone. Devices follow the groups from the first one on and ask their owners to agree; "
        "they cannot rule it out.",
        "de": "Befragte werden eingeladen und tauschen die Einladung gegen eine blind unterschriebene Zulassung: "
        "Wer seine Einladung benutzte, ist bekannt; welche Meldung daraus wurde, nur dem, der eine Gruppe "
        "von Befragten für eine Person allein gemacht hat. Geräte verfolgen die Gruppen von der ersten an "
        "und bitten um Zustimmung; ausschließen können sie es nicht.",
    },
    "deniability": {
        "en": "The truth is kept with a fixed probability, and for that deniability with epsilon = {claimed} is "
        "claimed, which is not differential privacy; the true bound is epsilon = {epsilon}. Devices show "
        "both numbers, charge the true one, and answer only for people who agree.",
        "de": "Die wahre Antwort bleibt mit einer festen Wahrscheinlichkeit stehen, und dafür wird Abstreitbarkeit "
        "mit Epsilon = {claimed} behauptet, was nicht Differential Privacy ist; die wahre Grenze ist Epsilon "
        "= {epsilon}. Geräte zeigen beide Zahlen, rechnen die wahre an und antworten nur, wenn man zustimmt.",
    },
    "simulated": {
        "en": "Of these reports, {made_up} are simulated: they say nothing about people, and what is estimated "
        "from them is no result.",
        "de": "Von diesen Meldungen sind {made_up} simuliert: Sie sagen nichts über Menschen, und was aus ihnen "
        "geschätzt wird, ist kein Ergebnis.",
    },
    "pilot": {
        "en": "These reports are a pilot's, in which the survey was tried out: they do not count, and what is "
        "estimated from them is no result.",
        "de": "Diese Meldungen stammen aus einem Pilotversuch, in dem die Befragung ausprobiert wurde: Sie zählen "
        "nicht, und was aus ihnen geschätzt wird, ist kein Ergebnis.",
    },
    "corrected": {
        "en": "The survey's words were corrected while people answered, with the reason {why}: {before} reports were "
        "made before and {after} after.",
        "de": "Die Worte der Umfrage wurden berichtigt, während Menschen antworteten, mit der Begründung {why}: "
        "{before} Meldungen entstanden vorher und {after} nachher.",
    },
    "changed": {
        "en": "The survey's words were changed while people answered, which nobody declared: {before} reports were "
        "made before and {after} after.",
        "de": "Die Worte der Umfrage wurden geändert, während Menschen antworteten, was niemand erklärt hat: {before} "
        "Meldungen entstanden vorher und {after} nachher.",
    },
    "corrected_text": {
        "en": "{where}: {before} became {after}",
        "de": "{where}: aus {before} wurde {after}",
    },
    "corrected_tested": {
        "en": "answers to {name} before and after were compared through the known probabilities (test of homogeneity, "
        "p = {p})",
        "de": "Antworten auf {name} vorher und nachher wurden durch die bekannten Wahrscheinlichkeiten verglichen "
        "(Homogenitätstest, p = {p})",
    },
    "corrected_untested": {
        "en": "answers to {name} before and after could not be compared",
        "de": "Antworten auf {name} vorher und nachher ließen sich nicht vergleichen",
    },
    "methods_in_part": {
        "en": "The numbers that the survey was made for were estimated from all reports through the known "
        "probabilities, with standard errors and intervals that include the noise of the disguise; each "
        "table names its method. The questions and their disguise:",
        "de": "Die Zahlen, für die die Umfrage gemacht ist, wurden aus allen Meldungen durch die bekannten "
        "Wahrscheinlichkeiten geschätzt, mit Standardfehlern und Intervallen, die das Rauschen der "
        "Verschleierung enthalten; jede Tabelle nennt ihr Verfahren. Die Fragen und ihre Verschleierung:",
    },
    "several_numbers": {
        "en": "What a report of this design tells depends on who asks, or some answers can be read off it for certain, "
        "so that no ready paragraph for participants or the board would be true. [Take every number of the statement "
        "that `deniable report` prints, and the sentences that the respondent's page shows, and have people agree to "
        "them.]",
        "de": "Was eine Meldung bei diesem Design verrät, hängt davon ab, wer fragt, oder manche Antworten lassen sich "
        "mit Gewissheit aus ihr lesen; kein fertiger Absatz für Teilnehmende oder Kommission wäre wahr. [Nehmen Sie "
        "jede Zahl der Angaben, die `deniable report` macht, und die Sätze der Seite für Befragte, und lassen Sie "
        "ihnen zustimmen.]",
    },
    "methods_disclosed": {
        "en": "Some reports can come of certain answers only and disclose them, so that no epsilon bounds what "
        "a report tells: this is not differential privacy.",
        "de": "Manche Meldungen können nur von bestimmten Antworten kommen und geben sie preis; kein Epsilon begrenzt "
        "daher, was eine Meldung verrät: Das ist keine Differential Privacy.",
    },
    "methods_pairs": {
        "en": "That is against whoever knows the coin that a pair shares; against strangers, who do not know who was "
        "paired with whom, epsilon = {claimed} is claimed on average, which is not local differential privacy.",
        "de": "Das gilt gegenüber allen, die die Münze eines Paars kennen; gegenüber Fremden, die nicht wissen, "
        "wer mit wem ein Paar war, wird im Durchschnitt Epsilon = {claimed} behauptet, was keine lokale "
        "Differential Privacy ist.",
    },
    "sampled_open": {
        "en": "The survey was open: anybody who knew the address could answer, more than once, so that respondents "
        "selected themselves and there is no response rate. [How the address was made known.]",
        "de": "Die Umfrage war offen: Wer die Adresse kannte, konnte antworten, auch mehrmals; die Befragten wählten "
        "sich also selbst aus, und eine Ausschöpfungsquote gibt es nicht. [Wie die Adresse bekannt gemacht wurde.]",
    },
    "sampled_invited": {
        "en": "Respondents were invited, and an invitation let in one report. [The population, how the sample was "
        "drawn, how many were invited, and the response rate.]",
        "de": "Befragte wurden eingeladen, und eine Einladung ließ eine Meldung zu. [Die Grundgesamtheit, wie die "
        "Stichprobe gezogen wurde, wie viele eingeladen wurden, und die Ausschöpfungsquote.]",
    },
    "sampled_blind": {
        "en": "Respondents were invited, and an invitation let in one report through a blindly signed token. [The "
        "population, how the sample was drawn, how many were invited, and the response rate.]",
        "de": "Befragte wurden eingeladen, und eine Einladung ließ durch einen blind unterschriebenen Token eine "
        "Meldung zu. [Die Grundgesamtheit, wie die Stichprobe gezogen wurde, wie viele eingeladen wurden, und die "
        "Ausschöpfungsquote.]",
    },
    "sampled_unknown": {
        "en": "[The population, how the sample was drawn, how many people were approached, and how many answered.]",
        "de": "[Die Grundgesamtheit, wie die Stichprobe gezogen wurde, wie viele Menschen angesprochen wurden, und wie "
        "viele antworteten.]",
    },
    "weights_none": {
        "en": "Reports were not weighted, and respondents are taken for independent draws. [If they are not: the "
        "weights, strata and clusters.]",
        "de": "Die Meldungen wurden nicht gewichtet, und die Befragten gelten als unabhängig gezogen. [Wenn sie es "
        "nicht sind: Gewichte, Schichten und Klumpen.]",
    },
    "weights_planned": {
        "en": "[Weights, strata and clusters, if there will be any.]",
        "de": "[Gewichte, Schichten und Klumpen, wenn es welche geben wird.]",
    },
    "weights_used": {
        "en": "Estimates and their standard errors are those of a sample {what}.",
        "de": "Schätzungen und ihre Standardfehler sind die einer Stichprobe {what}.",
    },
    "by_weights": {
        "en": "with weights ({names})",
        "de": "mit Gewichten ({names})",
    },
    "by_strata": {
        "en": "in strata ({names})",
        "de": "in Schichten ({names})",
    },
    "by_clusters": {
        "en": "of clusters ({names})",
        "de": "von Klumpen ({names})",
    },
}
