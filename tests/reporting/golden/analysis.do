* This file was not run by us: we have no Stata. It states the numbers of deniable beside its own; compare them.
* A survey: 100 disguised reports, written by deniable.
* Every answer was disguised before it came here: epsilon 1.0000 a respondent.
* One question was disguised.
* smokes: 2 answers; the true one is reported with probability 0.7310, each other with 0.2690.
* All probabilities are whole numbers of draws, out of as many equally likely ones as a power of two, and part of the design; `deniable export REPORTS -o design.json` writes it.
* Counts of reports are not counts of answers; the estimates below take the disguise out.
* Design 70543057fa1b0f2f397bf9e218eafacf011df2b51c84f4f27c9313c8aa4654e3.
version 14
set matastrict off

mata:
// A report u comes with the probability lambda[u] = sum over cells v of chances[u, v] pi[v]. Two estimates of pi:
//   maximum likelihood (never negative), by the EM algorithm;
//   the efficient one, by generalised least squares: right on average, and what errors belong to.

real matrix margin_of(real colvector owner)
{
    real scalar j
    real matrix found
    found = J(max(owner), rows(owner), 0)
    for (j = 1; j <= rows(owner); j++) found[owner[j], j] = 1
    return(found)
}

real colvector safe_ratio(real colvector y, real colvector lambda)
{
    real scalar u
    real colvector found
    found = J(rows(y), 1, 0)
    for (u = 1; u <= rows(y); u++) if (y[u] > 0) found[u] = y[u] / lambda[u]
    return(found)
}

real colvector maximum_likelihood(real colvector y, real matrix P, real matrix margin)
{
    real colvector pi, slope
    real scalar i
    pi = J(cols(P), 1, 1 / cols(P))
    for (i = 1; i <= 100000; i++) {
        slope = P' * safe_ratio(y, P * pi) / sum(y)
        if (max(slope) - 1 < 1e-13) break
        pi = pi :* slope
        pi = pi / sum(pi)
    }
    return(margin * pi)
}

real colvector norm_sub(real colvector x)
{
    real colvector falling, over
    real scalar i, last
    falling = sort(x, -1)
    over = (runningsum(falling) :- 1) :/ (1::rows(x))
    last = 1
    for (i = 1; i <= rows(x); i++) if (falling[i] > over[i]) last = i
    return((x :- over[last]) :* (x :> over[last]))
}

real matrix tangent_inverse(real matrix F, real colvector pi)
{
    real colvector root
    real matrix away, V, found
    real rowvector L
    real scalar i
    root = sqrt(pi)
    away = I(rows(pi)) - root * root'
    symeigensystem(makesymmetric(away * (F :* (root * root')) * away), V=., L=.)
    found = J(rows(pi), rows(pi), 0)
    for (i = 1; i <= cols(L); i++) {
        if (L[i] > 1e-12 * max(L)) found = found + (away * V[, i]) * (away * V[, i])' / L[i]
    }
    return(found :* (root * root'))
}

real matrix estimate(real colvector y, real matrix P, real colvector group, real rowvector listed, real colvector owner)
{
    real matrix margin, C, F, toward, pulls, A, now, moved
    real colvector pi, even, whole, lambda, here, weight, values, variance, there, t
    real rowvector mean, shift, own
    real scalar round, g, n
    margin = margin_of(owner)
    even = pi = J(cols(P), 1, 1 / cols(P))
    for (round = 1; round <= 3; round++) {
        if (round > 1) pi = 0.01 * even + 0.99 * norm_sub(whole)
        lambda = P * pi
        F = J(cols(P), cols(P), 0)
        for (g = 1; g <= cols(listed); g++) {
            here = (group :== g)
            weight = listed[g] ? here :* y :/ (lambda :^ 2) : here :* sum(here :* y) :/ lambda
            F = F + (P :* weight)' * P
        }
        C = tangent_inverse(F, pi)
        whole = pi + C * (P' * safe_ratio(y, lambda))
    }
    toward = C * margin'
    pulls = (P * toward) :/ lambda
    values = margin * whole
    own = diagonal(margin * toward)'
    // Of a cell below 0 or above 1 the error is that at the end: t away from the estimate.
    t = rowmin((rowmax((values, J(rows(values), 1, 0))), J(rows(values), 1, 1))) - values
    variance = there = J(rows(margin), 1, 0)
    for (g = 1; g <= cols(listed); g++) {
        here = (group :== g) :* y
        n = sum(here)
        A = pulls
        mean = here' * A
        variance = variance + n / max((n - 1, 1)) * (here' * (A :^ 2) - mean :^ 2 / n)'
        if (listed[g]) {
            now = here :* J(1, cols(A), 1)
            moved = here :* (P * toward) :/ lambda :/ own
        }
        else {
            now = n * (group :== g) :* (P * whole) :* J(1, cols(A), 1)
            moved = n * (group :== g) :* (P * toward) :/ own
        }
        now = now + moved :* t'
        shift = colsum(A :* now)
        there = there + (colsum((A :^ 2) :* now) - shift :^ 2 / n)'
    }
    there = (there :> 0) :* there + (there :<= 0) :* own'
    variance = (t :== 0) :* variance + (t :!= 0) :* there
    return((maximum_likelihood(y, P, margin), values, sqrt(rowmax((variance, J(rows(variance), 1, 0))))))
}
end


* smokes
* Rows are the answers; columns: estimate, efficient, standard error.
* 1: no
* 2: yes
mata:
y = (60 \ 40)
P = (0.731048583984375, 0.268951416015625 \
0.268951416015625, 0.731048583984375)
group = (1 \ 1)
listed = (0)
owner = (1 \ 2)
found = estimate(y, P, group, listed, owner)
found
"the numbers of deniable:"
(0.716404702152952, 0.7164047021529519, 0.10655030977178113 \
0.283595297847048, 0.28359529784704823, 0.10655030977178115)
end
