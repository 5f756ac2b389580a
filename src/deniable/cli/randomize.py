"""`deniable randomize`: disguise a table, row by row, into a file of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from deniable.cli.terminal import FILE, TARGET, Progress, as_json, console, emit, split
from deniable.errors import DesignError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.core.domain import Domain
    from deniable.designs.design import Design

DESIGNS = ("optimal", "views", "independent", "joint", "sampled", "clusters", "blocks", "paired")
# The designs that an option says something of, by its parameter; to the others it means nothing.
OPTIONS = {
    "k": ("views", "blocks"),
    "answer": ("views", "blocks"),
    "block_size": ("blocks",),
    "phi": ("blocks",),
    "p": ("paired",),
    "rho": ("paired",),
    "clusters": ("clusters",),
}


@click.command("randomize")
@click.argument("table", type=TARGET)
@click.option("-o", "--output", type=TARGET, required=True, help="The .parquet file to write.")
@click.option("--domain", "domain_file", type=FILE, help="A TOML file: each attribute with its categories.")
@click.option("--infer-domain", is_flag=True, help="Read the categories off the data instead; discloses rare ones.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME", help="Disguise only these. Repeatable.")
@click.option("--epsilon", type=float, required=True, help="The most that a person's whole report may tell.")
@click.option(
    "--design", "kind", type=click.Choice(DESIGNS), default="optimal", show_default=True, help="Who is asked what."
)
@click.option(
    "--k", type=int, default=2, show_default=True, help="For views and blocks: how many attributes a question combines."
)
@click.option("--answer", type=click.Choice(["one", "all"]), default="one", show_default=True, help="Likewise.")
@click.option(
    "--block-size", type=int, default=250, show_default=True, help="For blocks: rows a block, in their order."
)
@click.option(
    "--phi", type=float, default=0.5, show_default=True, help="For blocks: the share of fakes that stay even."
)
@click.option("--p", type=float, help="For paired: the probability of the truth.")
@click.option("--rho", type=float, help="For paired: how partners depend on each other, from -(1 - p) / p to 0.")
@click.option("--cluster", "clusters", multiple=True, metavar="A,B", help="For clusters: asked as one. Repeatable.")
@click.option("--keep", multiple=True, metavar="NAME", help="A public column that rides along in clear. Repeatable.")
@click.option("--again", is_flag=True, help="Disguise TABLE though it was before; the statement says the sum.")
@as_json
def command(
    *,
    table: Path | str,
    output: Path | str,
    domain_file: Path | None,
    infer_domain: bool,
    attributes: tuple[str, ...],
    epsilon: float,
    kind: str,
    k: int,
    answer: str,
    block_size: int,
    phi: float,
    p: float | None,
    rho: float | None,
    clusters: tuple[str, ...],
    keep: tuple[str, ...],
    again: bool,
    as_json: bool,
) -> None:
    """Disguise TABLE (.parquet or .csv), a row a person, and write the reports with their design.

    Memory use does not grow with the table, blocks and pairs aside, which need all of it. Interrupted, and run again
    with the same arguments, it goes on where it stopped: no row is disguised twice. A table that was disguised before
    is refused, also under another name or in another format, unless you say --again; the record of what was disguised
    lies in ~/.local/state/deniable, or where DENIABLE_RECORD says. There is no seed: the noise comes from the operating
    system's secure source. By default every share and every pair is what the reports are for, as in a plan. Of paired
    rows, epsilon is what whoever knows their coins may learn.

    \b
    Examples:
      deniable randomize people.parquet --domain domain.toml --epsilon 2 -o reports.parquet
      deniable randomize people.parquet --domain domain.toml --epsilon 2 --design blocks -o reports.parquet
      deniable randomize people.csv --domain d.toml --epsilon 4 --design paired --p 0.7 --rho -0.1 -o reports.parquet
    """  # noqa: D301 - click wants the character itself
    from deniable.engines.domain_file import INFERRED, read_domain
    from deniable.engines.domain_file import infer_domain as infer
    from deniable.engines.randomize_job import randomize_table, recognisable
    from deniable.engines.read_reports import read_header

    _refuse_others(kind)
    if (domain_file is None) == (not infer_domain):
        raise InputError(
            "give --domain with the file that lists the categories (or, if that a category occurs is no secret, "
            "--infer-domain), and not both"
        )
    warned = []
    if domain_file is None:
        named = list(attributes) or None
        domain = infer(table, named)
        warned.append(INFERRED)
        click.echo(f"Warning: {INFERRED}", err=True)
    else:
        domain = read_domain(domain_file)
        domain = domain.project(attributes) if attributes else domain
    if kind == "blocks":
        design: Design = _blocks(domain, epsilon, k=k, answer=answer, phi=phi, block_size=block_size)
    elif kind == "paired":
        design = _paired(domain, epsilon, p, rho)
    else:
        design = _design(kind, domain, epsilon, k=k, answer=answer, clusters=[split(cluster) for cluster in clusters])
    with Progress("Disguising") as progress:
        rows = randomize_table(table, output, design, keep, notes=warned, again=again, progress=progress)
    notes = read_header(output).notes
    if told := recognisable(output, keep):
        click.echo(f"Warning: {told}", err=True)
    if as_json:
        emit(
            {
                "output": str(output),
                "reports": rows,
                "design": design.id,
                "epsilon": design.epsilon,
                "notes": notes,
            }
        )
        return
    out = console()
    for line in (f"{rows} reports in {output}", *design.describe().lines(), *notes):
        out.print(line, soft_wrap=True, markup=False)


def _refuse_others(kind: str) -> None:
    """Refuse what was said of another design: whoever says it takes it to be done."""
    context = click.get_current_context()
    for option in context.command.params:
        of = OPTIONS.get(option.name or "", DESIGNS)
        if kind not in of and context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT:
            raise InputError(
                f"{option.opts[0]} belongs to --design {' and --design '.join(of)}, not to --design {kind}: leave it "
                f"out, or choose {'that design' if len(of) == 1 else 'one of those'}",
                option=option.opts[0],
            )


def _design(kind: str, domain: Domain, epsilon: float, *, k: int, answer: Any, clusters: list[list[str]]) -> Design:
    from deniable.aims.default_aims import shares_and_pairs
    from deniable.designs.kinds.clusters import Clusters
    from deniable.designs.kinds.independent import Independent
    from deniable.designs.kinds.joint import Joint
    from deniable.designs.kinds.optimal import Optimal
    from deniable.designs.kinds.sampled import Sampled
    from deniable.designs.kinds.views import Views

    if kind == "clusters":
        if not clusters:
            raise InputError("name the clusters: --cluster sex,income --cluster age")
        return Clusters(domain, clusters, epsilon)
    if kind == "views":
        return Views(domain, min(k, len(domain)), epsilon, answer=answer)
    if kind == "optimal":
        try:
            return Optimal(domain, shares_and_pairs(domain), epsilon)
        except DesignError as error:
            raise type(error)(f"{error.message}; or choose another --design, such as views", **error.details) from error
    plain: dict[str, Any] = {"independent": Independent, "joint": Joint, "sampled": Sampled}
    made: Design = plain[kind](domain, epsilon)
    return made


def _blocks(domain: Domain, epsilon: float, *, k: int, answer: Any, phi: float, block_size: int) -> Design:
    from deniable.extensions.designs.blocks import Blocks

    return Blocks(domain, min(k, len(domain)), epsilon, answer=answer, phi=phi, block_size=block_size)


def _paired(domain: Domain, epsilon: float, p: float | None, rho: float | None) -> Design:
    from deniable.device.epsilon import exp_below
    from deniable.extensions.designs.paired import Paired

    if p is None or rho is None:
        raise InputError("paired rows need --p and --rho, as in --p 0.7 --rho -0.1; deniable plan proposes some")
    design = Paired(domain, p, rho)
    if design.ratio > exp_below(epsilon):
        raise InputError(
            f"whoever knows the coins of a pair learns epsilon {design.epsilon:.4g}, more than the {epsilon:g} of "
            f"--epsilon: choose a smaller --p, or a --rho nearer to 0",
            epsilon=design.epsilon,
        )
    return design
