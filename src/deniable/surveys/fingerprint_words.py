"""Fingerprint words, by which people compare what they are shown, and what frames the researcher's own texts.

They compare it with what others are shown, and with what stood there before it was corrected.

They belong to the program alone: a survey file cannot say them otherwise, in any language.
"""

from __future__ import annotations

from deniable.surveys.languages import add_languages

FRAMES: dict[str, dict[str, str]] = {
    "device_says": {"en": "Your device says:", "de": "Ihr Gerät sagt:"},
    "they_write": {
        "en": "The people who run this survey write:",
        "de": "Wer diese Umfrage betreibt, schreibt:",
    },
    "they_ask": {"en": "The people who run this survey ask:", "de": "Wer diese Umfrage betreibt, fragt:"},
    "frames_note": {
        "en": "Sentences behind a shield come from the program on your device. What the people who run this survey "
        "write stands in a dashed frame. Nothing that is written there changes what is sent.",
        "de": "Sätze mit einem Schild davor kommen vom Programm auf Ihrem Gerät. Was schreibt, wer diese Umfrage "
        "betreibt, steht in einem gestrichelten Rahmen. Nichts, was dort steht, ändert, was gesendet wird.",
    },
    "corrected_note": {
        "en": "Words of this survey were corrected after people had answered it. Whether a report was made before or "
        "after is kept with it, and whoever reads the results is told what the words were.",
        "de": "Worte dieser Umfrage wurden berichtigt, nachdem Menschen geantwortet hatten. Ob eine Meldung vorher "
        "oder nachher entstand, wird mit ihr aufbewahrt, und wer die Ergebnisse liest, erfährt, was dort stand.",
    },
    "corrected_list": {"en": "What was corrected", "de": "Was berichtigt wurde"},
    "corrected_here": {
        "en": "This was corrected. People who answered earlier read something else:",
        "de": "Dies wurde berichtigt. Wer früher geantwortet hat, las etwas anderes:",
    },
    "corrected_before": {"en": "Before", "de": "Vorher"},
    "corrected_now": {"en": "Now", "de": "Jetzt"},
    "corrected_nothing": {"en": "(nothing)", "de": "(nichts)"},
    "corrected_why": {"en": "The reason given:", "de": "Die Begründung:"},
    "tag_clear": {"en": "Sent as it is, not disguised", "de": "Wird so gesendet, wie es ist, nicht verschleiert"},
    "tag_disguised": {"en": "Disguised before it is sent", "de": "Wird vor dem Senden verschleiert"},
    "goes_to": {
        "en": "What you send goes to {collector}, and nowhere else.",
        "de": "Was Sie senden, geht an {collector} und nirgendwo sonst hin.",
    },
    "in_clear": {
        "en": "Answers that are sent as they are, outside this bound: {clear}. Each is marked as such.",
        "de": "Antworten, die so gesendet werden, wie sie sind, außerhalb dieser Grenze: {clear}. Jede ist so "
        "gekennzeichnet.",
    },
    "fingerprints": {"en": "Is this the same for everybody?", "de": "Ist das für alle dasselbe?"},
    "fingerprint_design": {
        "en": "The fingerprint of this survey: {fingerprint}",
        "de": "Der Fingerabdruck dieser Umfrage: {fingerprint}",
    },
    "fingerprint_issuer": {
        "en": "The fingerprint of the key that signs admissions: {issuer}",
        "de": "Der Fingerabdruck des Schlüssels, der Zulassungen unterschreibt: {issuer}",
    },
    "published_at": {
        "en": "It should be the same as at this public place:",
        "de": "Er sollte derselbe sein wie an diesem öffentlichen Ort:",
    },
    "published_nowhere": {
        "en": "This survey names no public place where it could be compared.",
        "de": "Diese Umfrage nennt keinen öffentlichen Ort, an dem er sich vergleichen ließe.",
    },
    "pin_note": {
        "en": "Compare it there, at one public place that is the same for everybody. A fingerprint in a link or letter "
        "that is yours alone proves nothing: whoever sent it to you can send each person another one.",
        "de": "Vergleichen Sie dort, an einem öffentlichen Ort, der für alle derselbe ist. Ein Fingerabdruck in einem "
        "Link oder Brief, den nur Sie bekommen, beweist nichts: Wer ihn schickt, kann jeder Person einen anderen "
        "schicken.",
    },
    "weaker_panel": {
        "en": "This survey belongs to a panel: the same people are asked again later. Your device keeps the disguise "
        "that it draws now, and makes what it sends next time out of it. So what you send at different times is alike.",
        "de": "Diese Umfrage gehört zu einem Panel: Dieselben Menschen werden später wieder gefragt. Ihr Gerät behält "
        "die Verschleierung, die es jetzt auslost, und macht daraus, was es beim nächsten Mal sendet. Was Sie zu "
        "verschiedenen Zeiten senden, ist sich also ähnlich.",
    },
    "weaker_panel_found": {
        "en": "If at least {people} people take part, at most {found} in 100 can be recognised by what they send, "
        "however much is known about them. If fewer take part, it can be more: of {few} people, {more} in 100. Being "
        "asked again about an answer that is kept tells no more about it than the bound above.",
        "de": "Wenn mindestens {people} Menschen teilnehmen, sind höchstens {found} von 100 an dem zu erkennen, was "
        "sie senden, wie viel auch über sie bekannt ist. Nehmen weniger teil, können es mehr sein: von {few} "
        "Menschen {more} von 100. Noch einmal nach einer behaltenen Antwort gefragt zu werden, verrät über sie nicht "
        "mehr als die Grenze oben.",
    },
    "agree_panel": {
        "en": "I have read this and take part in the panel.",
        "de": "Ich habe das gelesen und nehme am Panel teil.",
    },
    "weaker_deniability": {
        "en": "This survey claims deniability: whatever you send, everybody may have sent it by chance. For that it "
        "claims epsilon {claimed}, as if somebody who is undecided about you, 50 to 50, could become at most "
        "{claimedsure}% sure. An answer that few people give is hidden less well: by it they can become {toldsure}% "
        "sure (epsilon {told}). This is the true number, and what your account is charged.",
        "de": "Diese Umfrage behauptet Abstreitbarkeit: Was Sie auch senden, könnte jeder zufällig gesendet haben. "
        "Dafür behauptet sie Epsilon {claimed}, als könnte, wer über Sie im Ungewissen ist, 50 zu 50, höchstens "
        "{claimedsure}% sicher werden. Eine Antwort, die wenige geben, ist schlechter verborgen: Durch sie wird man "
        "bis zu {toldsure}% sicher (Epsilon {told}). Das ist die wahre Zahl, und sie wird Ihrem Konto berechnet.",
    },
    "agree_deniability": {
        "en": "I have read this and accept the true number.",
        "de": "Ich habe das gelesen und nehme die wahre Zahl in Kauf.",
    },
    "weaker_blocks": {
        "en": "Your admission is blind: nobody can connect it with your invitation. But the numbers that disguise your "
        "answer are published anew for each group of respondents. Your device follows them from the first group on, "
        "and cannot see whether others are shown the same. Whoever makes a group for you alone can tell which report "
        "is yours. What your answers tell stays within the bound above.",
        "de": "Ihre Zulassung ist blind: Niemand kann sie mit Ihrer Einladung in Verbindung bringen. Die Zahlen, mit "
        "denen Ihre Antwort verschleiert wird, werden aber für jede Gruppe von Befragten neu veröffentlicht. Ihr Gerät "
        "verfolgt sie von der ersten Gruppe an und kann nicht sehen, ob anderen dieselben gezeigt werden. Wer für Sie "
        "allein eine Gruppe macht, kann erkennen, welche Meldung Ihre ist. Was Ihre Antworten verraten, bleibt "
        "innerhalb der Grenze oben.",
    },
    "agree_blocks": {
        "en": "I have read this and accept that my report may be recognised.",
        "de": "Ich habe das gelesen und nehme in Kauf, dass meine Meldung erkannt werden kann.",
    },
    "page_note": {
        "en": "This page is one file, the same for every survey and for everybody. Anybody can compare it:",
        "de": "Diese Seite ist eine einzige Datei, dieselbe für jede Umfrage und für alle. Jeder kann sie vergleichen:",
    },
    "framed_heading": {"en": "This page is inside another one", "de": "Diese Seite steckt in einer anderen"},
    "framed": {
        "en": "The page around it could watch you answer. Nothing was asked and nothing was sent. Open the address of "
        "the survey by itself.",
        "de": "Die Seite darum herum könnte Ihnen beim Antworten zusehen. Nichts wurde gefragt und nichts gesendet. "
        "Öffnen Sie die Adresse der Umfrage für sich allein.",
    },
    "restyled_heading": {"en": "Something else is in this page", "de": "In dieser Seite steckt noch etwas"},
    "restyled": {
        "en": "The server has put into this page what does not belong to it, and what could tell it your answers. "
        "Nothing was asked and nothing was sent.",
        "de": "Der Server hat in diese Seite etwas gelegt, das nicht zu ihr gehört und ihm Ihre Antworten verraten "
        "könnte. Nichts wurde gefragt und nichts gesendet.",
    },
    "unaddressed_heading": {"en": "Which survey?", "de": "Welche Umfrage?"},
    "unaddressed": {
        "en": "The address of this page should name the survey's server, such as ?collector=https://...",
        "de": "Die Adresse dieser Seite sollte den Server der Umfrage nennen, etwa ?collector=https://...",
    },
}

add_languages(FRAMES)
