# -- how estimates are made -------------------------------------------------------------------------------------------
# A report u comes with the probability lambda[u] = sum over cells v of chances[u, v] pi[v]. Two estimates of pi:
#   maximum likelihood (never negative), by the EM algorithm;
#   the efficient one, by generalised least squares: right on average, and what errors and intervals belong to.


def maximum_likelihood(table):
    y, P = table["counts"], table["chances"]
    y, P, n = y[y > 0], P[y > 0], y.sum()

    def slope(pi):
        return P.T @ (y / (P @ pi)) / n

    def step(pi):
        pi = pi * slope(pi)
        return pi / pi.sum()

    pi = np.full(P.shape[1], 1 / P.shape[1])
    for _ in range(20_000):
        one = step(pi)
        two = step(one)
        if slope(two).max() - 1 < 1e-13:
            break
        # Two steps tell where many would lead (SQUAREM); as far as no share falls below zero.
        first, change = one - pi, two - 2 * one + pi
        size = max(np.sqrt((first**2).sum() / (change**2).sum()), 1.0) if change.any() else 1.0
        while True:
            far = pi + 2 * size * first + size**2 * change
            if size == 1 or far.min() > 0:
                break
            size = 1.0 if size < 1.01 else (size + 1) / 2
        far = step(far / far.sum() if far.min() > 0 else two)
        pi = far if y @ np.log(P @ far) >= y @ np.log(P @ two) else two
    return margin_of(table) @ two


def margin_of(table):
    owner = table["owner"]
    return (np.arange(1, owner.max() + 1)[:, None] == owner).astype(float)


def norm_sub(x):
    """The nearest table without negative cells."""
    falling = np.sort(x)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, len(x) + 1)
    return np.maximum(x - over[np.flatnonzero(falling > over)[-1]], 0)


def information(table, pi):
    y, P, group = table["counts"], table["chances"], table["group"] - 1
    lam = P @ pi
    total = np.bincount(group, y)[group]
    weight = np.where(np.array(table["listed"])[group], y / lam**2, total / lam)
    return (P.T * weight) @ P


def tangent_inverse(F, pi):
    """The inverse on the tables that sum to zero."""
    root = np.sqrt(pi)
    away = np.eye(len(root)) - np.outer(root, root)
    values, vectors = np.linalg.eigh(away @ (F * np.outer(root, root)) @ away)
    told = values > 1e-12 * values.max()
    found = away @ vectors[:, told]
    return root[:, None] * ((found / values[told]) @ found.T) * root


def efficient(table, level):
    y, P, group = table["counts"], table["chances"], table["group"]
    margin, cells = margin_of(table), P.shape[1]
    even = pi = np.full(cells, 1 / cells)
    for last in (None, 1, 2):
        if last is not None:
            pi = 0.01 * even + 0.99 * norm_sub(whole)
        C = tangent_inverse(information(table, pi), pi)
        lam = P @ pi
        whole = pi + C @ (P.T @ np.divide(y, lam, out=np.zeros_like(y), where=y > 0))
    values, toward = margin @ whole, C @ margin.T
    direction = toward / np.diag(margin @ toward)
    pulls = (P @ toward) / lam[:, None]
    variance, a, b, c = np.zeros((len(values), len(values))), 0.0, 0.0, 0.0
    for g, listed in enumerate(table["listed"], start=1):
        here = group == g
        A, Q, n = pulls[here], P[here], y[here].sum()
        mean = A.T @ y[here]
        variance += n / max(n - 1, 1) * ((A.T * y[here]) @ A - np.outer(mean, mean) / n)
        if listed:
            now, moved = y[here][:, None], y[here][:, None] * (Q @ direction) / lam[here][:, None]
        else:
            now, moved = n * (Q @ whole)[:, None], n * (Q @ direction)
        mean, shift = (A * now).sum(axis=0), (A * moved).sum(axis=0)
        a = a + (A**2 * now).sum(axis=0) - mean**2 / n
        b = b + (A**2 * moved).sum(axis=0) - 2 * mean * shift / n
        c = c - shift**2 / n
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    lead, middle = 1 - z2 * c, z2 * b / 2
    root = np.sqrt(np.maximum(middle**2 + lead * z2 * a, 0))
    low, high = values + (middle - root) / lead, values + (middle + root) / lead
    # Of a cell below 0 or above 1, the error at that end.
    t = np.clip(values, 0, 1) - values
    there = a + b * t + c * t**2
    squared = np.where(t == 0, np.diag(variance), np.where(there > 0, there, np.diag(margin @ toward)))
    return values, np.sqrt(np.maximum(squared, 0)), low, high


def estimate(table, level=0.95):
    """Shares between 0 and 1 with what their range leaves of the intervals; nan where it leaves nothing."""
    shares, (values, error, low, high) = maximum_likelihood(table), efficient(table, level)
    empty = (low > 1) | (high < 0)
    low, high = np.minimum(shares, np.maximum(low, 0)), np.maximum(shares, np.minimum(high, 1))
    return np.stack([shares, values, error, np.where(empty, nan, low), np.where(empty, nan, high)], axis=1)


def mean_of_scores(table):
    """Of tables that would make this script too long, and of those whose errors need more than counts.

    A score is a number that is made of one report, and the mean of scores estimates a share, right on average. Here are
    how many there are, their sum and the sum of their squares; `deniable export` writes the scores themselves.
    """
    n, total, squares = table["sums"].T
    mean = total / n
    return mean, np.sqrt((squares - n * mean**2) / (n - 1) / n)


# -- the tables --------------------------------------------------------------------------------------------------------
largest = 0.0
for name, table in tables.items():
    print(f"\n{table['asked']}")
    if "sums" in table:
        print(f"{'':30}      mean  its error  (of scores)  efficient  std_error  (of deniable)")
        for cell, mean, error, row in zip(table["cells"], *mean_of_scores(table), table["found"]):
            print(f"{cell[:30]:30}  {mean:8.4f}  {error:9.4f}  {'':11}  {row[1]:9.4f}  {row[2]:9.4f}")
        continue
    found = estimate(table)
    print(f"{'':30}  estimate  efficient  std_error     low    high")
    for cell, row in zip(table["cells"], found):
        print(f"{cell[:30]:30}  {row[0]:8.4f}  {row[1]:9.4f}  {row[2]:9.4f}  {row[3]:6.3f}  {row[4]:6.3f}")
    # The numbers that deniable found, for comparison.
    assert np.array_equal(np.isnan(found), np.isnan(table["found"]))
    largest = max(largest, float(np.nanmax(np.abs(found - table["found"]))))
print(f"\nLargest difference from the numbers of deniable: {largest:.1g}")
assert largest < 1e-5
