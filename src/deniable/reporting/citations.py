"""The sources that a paper about a survey cites: as a line, and for BibTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# By name: BibTeX's kind of entry, and its fields.
_SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "warner": (
        "article",
        {
            "author": "Warner, Stanley L.",
            "title": "Randomized response: a survey technique for eliminating evasive answer bias",
            "journal": "Journal of the American Statistical Association",
            "volume": "60",
            "pages": "63--69",
            "year": "1965",
        },
    ),
    "kasiviswanathan": (
        "article",
        {
            "author": "Kasiviswanathan, Shiva Prasad and Lee, Homin K. and Nissim, Kobbi and Raskhodnikova, Sofya and "
            "Smith, Adam",
            "title": "What can we learn privately?",
            "journal": "SIAM Journal on Computing",
            "volume": "40",
            "pages": "793--826",
            "year": "2011",
        },
    ),
    "wang": (
        "inproceedings",
        {
            "author": "Wang, Yue and Wu, Xintao and Hu, Donghui",
            "title": "Using randomized response for differential privacy preserving data collection",
            "booktitle": "EDBT/ICDT Workshops",
            "year": "2016",
        },
    ),
    "imran": (
        "inproceedings",
        {
            "author": "Imran, F. and Meo, R.",
            "title": "Collection and analysis of sensitive data with privacy protection by a distributed randomized "
            "response protocol",
            "booktitle": "ACM Symposium on Applied Computing",
            "year": "2024",
        },
    ),
    "wang2017": (
        "inproceedings",
        {
            "author": "Wang, Tianhao and Blocki, Jeremiah and Li, Ninghui and Jha, Somesh",
            "title": "Locally differentially private protocols for frequency estimation",
            "booktitle": "USENIX Security Symposium",
            "year": "2017",
        },
    ),
    "ye": (
        "article",
        {
            "author": "Ye, Min and Barg, Alexander",
            "title": "Optimal schemes for discrete distribution estimation under locally differential privacy",
            "journal": "IEEE Transactions on Information Theory",
            "volume": "64",
            "pages": "5662--5676",
            "year": "2018",
        },
    ),
    "erlingsson": (
        "inproceedings",
        {
            "author": "Erlingsson, Úlfar and Pihur, Vasyl and Korolova, Aleksandra",
            "title": "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
            "booktitle": "ACM Conference on Computer and Communications Security",
            "year": "2014",
        },
    ),
    "acharya": (
        "inproceedings",
        {
            "author": "Acharya, Jayadev and Sun, Ziteng and Zhang, Huanyu",
            "title": "Hadamard response: estimating distributions privately, efficiently, and with little "
            "communication",
            "booktitle": "International Conference on Artificial Intelligence and Statistics",
            "year": "2019",
        },
    ),
    "feldman": (
        "inproceedings",
        {
            "author": "Feldman, Vitaly and Nelson, Jelani and Nguyen, Huy and Talwar, Kunal",
            "title": "Private frequency estimation via projective geometry",
            "booktitle": "International Conference on Machine Learning",
            "year": "2022",
        },
    ),
    "zheng": (
        "misc",
        {
            "author": "Zheng, Y. and Seeam, S. R. and Hu, Y. and Zhang, R. and Zhang, Y.",
            "title": "Locally differentially private frequency estimation via joint randomized response",
            "note": "Slides",
            "year": "2025",
        },
    ),
    "wilson": (
        "article",
        {
            "author": "Wilson, Edwin B.",
            "title": "Probable inference, the law of succession, and statistical inference",
            "journal": "Journal of the American Statistical Association",
            "volume": "22",
            "pages": "209--212",
            "year": "1927",
        },
    ),
    "dempster": (
        "article",
        {
            "author": "Dempster, A. P. and Laird, N. M. and Rubin, D. B.",
            "title": "Maximum likelihood from incomplete data via the EM algorithm",
            "journal": "Journal of the Royal Statistical Society, Series B",
            "volume": "39",
            "pages": "1--38",
            "year": "1977",
        },
    ),
    "deniable": (
        "misc",
        {
            "author": "{The deniable developers}",
            "title": "deniable: randomized response under local differential privacy",
            "note": "Python package",
        },
    ),
}


def cited(name: str) -> str:
    """A source in one line.

    >>> cited("wang")
    'Wang, Y., Wu, X., Hu, D. (2016). Using randomized response for differential privacy preserving data ...'
    """
    fields = _SOURCES[name][1]
    authors = ", ".join(map(_short, fields["author"].split(" and ")))
    where = fields.get("journal") or fields.get("booktitle") or fields.get("note", "")
    place = f"{where} {fields['volume']}, {fields['pages'].replace('--', '-')}" if "volume" in fields else where
    year = f" ({fields['year']})" if "year" in fields else ""
    end = "" if fields["title"].endswith("?") else "."
    return f"{authors}{year}. {fields['title']}{end} {place}."


def _short(author: str) -> str:
    if author.startswith("{"):
        return author[1:-1]
    family, _, given = author.partition(", ")
    return f"{family}, {' '.join(f'{name[0]}.' for name in given.split())}"


def bibtex(names: Sequence[str], version: str) -> str:
    """Entries for BibTeX."""
    entries = []
    for name in names:
        kind, fields = _SOURCES[name]
        more = {**fields, "version": version} if name == "deniable" else fields
        body = "".join(f"  {key} = {{{text}}},\n" for key, text in more.items())
        entries.append(f"@{kind}{{{name}{fields.get('year', '')},\n{body}}}\n")
    return "\n".join(entries)
