"""One yes-or-no question: randomized response, Laplace and pairs, standard errors of the share."""

from __future__ import annotations

from deniable import KRR, BinnedLaplace, paired_optimum
from reproduction.item import Item, Reproduced, Run

N = 10_000


def compute(_run: Run) -> Reproduced:
    """Closed forms; pairs keep the claimed epsilon only, which is not LDP."""
    out = Reproduced()
    for epsilon in (0.5, 1.0, 2.0):
        for share in (0.02, 0.3):
            pi = [1 - share, share]
            paired = paired_optimum(epsilon, N, 0, share)
            # The people themselves vary as well: share (1 - share) / N on top of the coins.
            both = paired.variance / N**2 + share * (1 - share) / N
            for method, variance in (
                ("RR", KRR(2, epsilon=epsilon).variance(pi, N)[1]),
                ("Laplace, rounded, nominal epsilon", BinnedLaplace(2, epsilon).variance(pi, N)[1]),
                ("pairs (JRR), claimed epsilon, not LDP", both),
            ):
                error = float(variance) ** 0.5
                out.line(f"epsilon {epsilon:g}, f = {share:g}: {method}", error)
                out.row(epsilon=epsilon, share=share, method=method, error=error)
    return out


ITEM = Item(
    __name__,
    where="no paper",
    claim="Standard error of a share among 10,000 respondents.",
    compute=compute,
)
