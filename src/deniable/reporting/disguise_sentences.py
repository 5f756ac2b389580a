"""The sentences of `disguise`, in English and German. Places in braces are the design's own numbers and words."""

from __future__ import annotations

DISGUISE: dict[str, dict[str, str]] = {
    "asked_alone": {
        "en": "{questions} questions were disguised, each by itself.",
        "de": "{questions} Fragen wurden verschleiert, jede für sich.",
    },
    "asked_one": {
        "en": "One question was disguised.",
        "de": "Eine Frage wurde verschleiert.",
    },
    "asked_whole": {
        "en": "The answers to {attributes} questions were disguised together, as one combination.",
        "de": "Die Antworten auf {attributes} Fragen wurden gemeinsam verschleiert, als eine Kombination.",
    },
    "asked_groups": {
        "en": "{attributes} questions were disguised in {questions} groups; the answers of a group together, as one "
        "combination.",
        "de": "{attributes} Fragen wurden in {questions} Gruppen verschleiert, die Antworten einer Gruppe gemeinsam "
        "als eine Kombination.",
    },
    "ballots_even": {
        "en": "Each respondent's own device drew, whatever the answers were, one of {ballots} ballots, each with the "
        "same probability; a ballot asks {each} of them.",
        "de": "Das Gerät jeder Person loste, unabhängig von den Antworten, eines von {ballots} Fragenbündeln aus, "
        "jedes mit derselben Wahrscheinlichkeit; ein Bündel fragt {each} davon.",
    },
    "ballots_weighted": {
        "en": "Each respondent's own device drew, whatever the answers were, one of {ballots} ballots, with "
        "probabilities from {least} to {most} that are part of the design; a ballot asks {each} of them.",
        "de": "Das Gerät jeder Person loste, unabhängig von den Antworten, eines von {ballots} Fragenbündeln aus, mit "
        "Wahrscheinlichkeiten von {least} bis {most}, die im Design stehen; ein Bündel fragt {each} davon.",
    },
    "made_for": {
        "en": "The probabilities were computed so that the numbers that the survey was made for need as few "
        "respondents as possible.",
        "de": "Die Wahrscheinlichkeiten wurden so berechnet, dass die Zahlen, für die die Umfrage gemacht ist, "
        "möglichst wenige Befragte brauchen.",
    },
    "krr": {
        "en": "{cells} answers; the true one is reported with probability {truth}, each other with {other}.",
        "de": "{cells} Antworten; die wahre wird mit Wahrscheinlichkeit {truth} gemeldet, jede andere mit {other}.",
    },
    "unary": {
        "en": "{cells} answers, each of which is in the reported set or not, independently of the others: the true one "
        "with probability {truth}, each other with {other} (unary encoding, Wang et al. 2017).",
        "de": "{cells} Antworten, von denen jede unabhängig von den anderen in der gemeldeten Menge ist oder "
        "nicht: die wahre mit Wahrscheinlichkeit {truth}, jede andere mit {other} (Unary Encoding, Wang et al. 2017).",
    },
    "subset": {
        "en": "{cells} answers, of which a set of {size} is reported; the true one is in it with probability {truth}, "
        "each other with {other} (subset selection, Ye and Barg 2018).",
        "de": "{cells} Antworten, von denen eine Menge von {size} gemeldet wird; die wahre ist mit Wahrscheinlichkeit "
        "{truth} darin, jede andere mit {other} (Subset Selection, Ye und Barg 2018).",
    },
    "hashing": {
        "en": "{cells} answers, which a function drawn at random sorts into {size} classes, one of which is reported "
        "with the function; the true answer is in it with probability {truth}, each other with {other} (local hashing, "
        "Wang et al. 2017).",
        "de": "{cells} Antworten, die eine zufällig gezogene Funktion in {size} Klassen einteilt, von denen "
        "eine mit der Funktion gemeldet wird; die wahre Antwort ist mit Wahrscheinlichkeit {truth} darin, jede "
        "andere mit {other} (Local Hashing, Wang et al. 2017).",
    },
    "sets": {
        "en": "{cells} answers, of which a set is reported; the true one is in it with probability {truth}, each other "
        "with {other}.",
        "de": "{cells} Antworten, von denen eine Menge gemeldet wird; die wahre ist mit Wahrscheinlichkeit "
        "{truth} darin, jede andere mit {other}.",
    },
    "two_level": {
        "en": "{cells} answers, of which a set is drawn once and kept, and sent with fresh noise whenever it is asked "
        "for; the true one is in what is sent with probability {truth}, each other with {other} (two levels, "
        "Erlingsson et al. 2014).",
        "de": "{cells} Antworten, von denen eine Menge einmal gezogen, behalten und jedes Mal mit neuem "
        "Rauschen gesendet wird; die wahre ist mit Wahrscheinlichkeit {truth} im Gesendeten, jede andere mit "
        "{other} (zwei Stufen, Erlingsson et al. 2014).",
    },
    "two_level_krr": {
        "en": "{cells} answers, of which one is drawn once and kept, and sent through k-ary randomized response anew "
        "whenever it is asked for; the true one is sent with probability {truth}, each other with {other} (two "
        "levels, after Erlingsson et al. 2014).",
        "de": "{cells} Antworten, von denen eine einmal gezogen, behalten und jedes Mal von neuem durch Randomized "
        "Response gesendet wird; die wahre wird mit Wahrscheinlichkeit {truth} gesendet, jede andere mit {other} (zwei "
        "Stufen, nach Erlingsson et al. 2014).",
    },
    "hadamard": {
        "en": "{cells} answers; one of {reports} reports is sent, each of which stands for half of the answers or so: "
        "with probability {truth} one that stands for the true answer, with 0.5 one that stands for a given other "
        "(Hadamard response, Acharya et al. 2019).",
        "de": "{cells} Antworten; gesendet wird eine von {reports} Meldungen, deren jede für etwa die Hälfte der "
        "Antworten steht: mit Wahrscheinlichkeit {truth} eine, die für die wahre steht, mit 0,5 eine, die für eine "
        "bestimmte andere steht (Hadamard Response, Acharya et al. 2019).",
    },
    "block_design": {
        "en": "{cells} answers; one of {reports} sets fixed in advance is reported (the hyperplanes of a finite "
        "geometry), with probability {truth} one that holds the true answer, with {other} one that holds a given other "
        "(after Feldman et al. 2022).",
        "de": "{cells} Antworten; gemeldet wird eine von {reports} vorab festgelegten Mengen (den Hyperebenen einer "
        "endlichen Geometrie), mit Wahrscheinlichkeit {truth} eine, in der die wahre Antwort ist, mit {other} eine, in "
        "der eine bestimmte andere ist (nach Feldman et al. 2022).",
    },
    "others": {
        "en": "{some} / and {more} more",
        "de": "{some} / und {more} weitere",
    },
    "rows": {
        "en": "{cells} answers and {reports} reports, with these probabilities: {rows}.",
        "de": "{cells} Antworten und {reports} Meldungen, mit diesen Wahrscheinlichkeiten: {rows}.",
    },
    "row": {
        "en": "after {answer} {chances}",
        "de": "nach {answer} {chances}",
    },
    "written": {
        "en": "{cells} answers and {reports} reports, each of which has a probability from {least} to {most}, by the "
        "answer; all {all} of these probabilities are written out in the design.",
        "de": "{cells} Antworten und {reports} Meldungen, deren jede je nach Antwort eine Wahrscheinlichkeit "
        "von {least} bis {most} hat; alle {all} Wahrscheinlichkeiten stehen ausgeschrieben im Design.",
    },
    "large": {
        "en": "{cells} answers and {reports} reports; none has more than {ratio} times the probability after "
        "one answer that it has after another, and all of them are written out in the design.",
        "de": "{cells} Antworten und {reports} Meldungen; keine hat nach einer Antwort mehr als das {ratio}-Fache der "
        "Wahrscheinlichkeit, die sie nach einer anderen hat, und alle stehen ausgeschrieben im Design.",
    },
    "coins": {
        "en": "{cells} answers, for each of which the report says yes or no: truly with probability {truth}.",
        "de": "{cells} Antworten, zu deren jeder die Meldung Ja oder Nein sagt: wahr mit Wahrscheinlichkeit {truth}.",
    },
    "where": {
        "en": "All probabilities are whole numbers of draws, out of as many equally likely ones as a power of "
        "two, and part of the design; `deniable export REPORTS -o design.json` writes it.",
        "de": "Alle Wahrscheinlichkeiten sind ganze Zahlen von Ziehungen unter einer Zweierpotenz gleich "
        "wahrscheinlicher und Teil des Designs; `deniable export REPORTS -o design.json` schreibt es.",
    },
}
