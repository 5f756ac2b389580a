# -- how estimates are made -------------------------------------------------------------------------------------------
# A report u comes with the probability lambda[u] = sum over cells v of chances[u, v] pi[v]. Two estimates of pi:
#   maximum likelihood (never negative), by the EM algorithm;
#   the efficient one, by generalised least squares: right on average, and what errors and intervals belong to.

maximum_likelihood <- function(table) {
  y <- table$counts; P <- table$chances; n <- sum(y)
  slope <- function(pi) as.vector(t(P) %*% ifelse(y > 0, y / as.vector(P %*% pi), 0)) / n
  step <- function(pi) { pi <- pi * slope(pi); pi / sum(pi) }
  likelihood <- function(pi) sum(ifelse(y > 0, y * log(as.vector(P %*% pi)), 0))
  pi <- rep(1 / ncol(P), ncol(P))
  for (round in 1:20000) {
    one <- step(pi); two <- step(one)
    if (max(slope(two)) - 1 < 1e-13) break
    # Two steps tell where many would lead (SQUAREM); as far as no share falls below zero.
    first <- one - pi; change <- two - one - first
    size <- if (sum(change^2) > 0) max(sqrt(sum(first^2) / sum(change^2)), 1) else 1
    repeat {
      far <- pi + 2 * size * first + size^2 * change
      if (size == 1 || min(far) > 0) break
      size <- if (size < 1.01) 1 else (size + 1) / 2
    }
    far <- step(if (min(far) > 0) far / sum(far) else two)
    pi <- if (likelihood(far) >= likelihood(two)) far else two
  }
  as.vector(rowsum(pi, table$owner))
}

norm_sub <- function(x) {  # the nearest table without negative cells
  sorted <- sort(x, decreasing = TRUE)
  over <- (cumsum(sorted) - 1) / seq_along(sorted)
  pmax(x - over[max(which(sorted > over))], 0)
}

information <- function(table, pi) {
  P <- table$chances; lambda <- as.vector(P %*% pi)
  total <- tapply(table$counts, table$group, sum)[table$group]
  weight <- ifelse(table$listed[table$group], table$counts / lambda^2, total / lambda)
  t(P * as.vector(weight)) %*% P
}

tangent_inverse <- function(F, pi) {  # the inverse on the tables that sum to zero
  root <- sqrt(pi)
  away <- diag(length(root)) - outer(root, root)
  parts <- eigen(away %*% (F * outer(root, root)) %*% away, symmetric = TRUE)
  told <- parts$values > 1e-12 * max(parts$values)
  found <- away %*% parts$vectors[, told, drop = FALSE]
  (root * (found %*% (t(found) / parts$values[told]))) * rep(root, each = length(root))
}

efficient <- function(table, level) {
  P <- table$chances; y <- table$counts; cells <- ncol(P)
  margin <- 1 * outer(seq_len(max(table$owner)), table$owner, "==")
  even <- rep(1 / cells, cells); pi <- even
  for (round in 1:3) {
    if (round > 1) pi <- 0.01 * even + 0.99 * norm_sub(whole)
    C <- tangent_inverse(information(table, pi), pi)
    lambda <- as.vector(P %*% pi)
    whole <- as.vector(pi + C %*% (t(P) %*% ifelse(y > 0, y / lambda, 0)))
  }
  values <- as.vector(margin %*% whole)
  toward <- C %*% t(margin)
  direction <- toward %*% diag(1 / diag(margin %*% toward), nrow = nrow(margin))
  pulls <- (P %*% toward) / lambda
  variance <- matrix(0, nrow(margin), nrow(margin)); a <- b <- c <- rep(0, nrow(margin))
  for (g in unique(table$group)) {
    here <- table$group == g; A <- pulls[here, , drop = FALSE]; n <- sum(y[here])
    mean <- as.vector(t(A) %*% y[here])
    variance <- variance + n / max(n - 1, 1) * (t(A * y[here]) %*% A - outer(mean, mean) / n)
    Q <- P[here, , drop = FALSE]
    if (table$listed[g]) {
      now <- matrix(y[here], nrow(Q), ncol(A)); moved <- y[here] * (Q %*% direction) / lambda[here]
    } else {
      now <- matrix(n * as.vector(Q %*% whole), nrow(Q), ncol(A)); moved <- n * (Q %*% direction)
    }
    mean <- colSums(A * now); shift <- colSums(A * moved)
    a <- a + colSums(A^2 * now) - mean^2 / n
    b <- b + colSums(A^2 * moved) - 2 * mean * shift / n
    c <- c - shift^2 / n
  }
  z2 <- qnorm((1 + level) / 2)^2
  lead <- 1 - z2 * c; middle <- z2 * b / 2
  root <- sqrt(pmax(middle^2 + lead * z2 * a, 0))
  t <- pmin(pmax(values, 0), 1) - values  # of a cell below 0 or above 1, the error at that end
  there <- a + b * t + c * t^2
  squared <- ifelse(t == 0, diag(variance), ifelse(there > 0, there, diag(margin %*% toward)))
  data.frame(efficient = values, std_error = sqrt(pmax(squared, 0)),
             low = values + (middle - root) / lead, high = values + (middle + root) / lead)
}

# Shares between 0 and 1 with what their range leaves of the intervals; NaN where it leaves nothing.
estimate <- function(table, level = 0.95) {
  shares <- maximum_likelihood(table); rest <- efficient(table, level)
  empty <- rest$low > 1 | rest$high < 0
  rest$low <- ifelse(empty, NaN, pmin(shares, pmax(rest$low, 0)))
  rest$high <- ifelse(empty, NaN, pmax(shares, pmin(rest$high, 1)))
  cbind(data.frame(cell = table$cells, estimate = shares), rest)
}

# Of tables that would make this script too long, and of those whose errors need more than counts: a score is a number
# that is made of one report, and the mean of scores estimates a share, right on average. Here are how many there are,
# their sum and the sum of their squares; `deniable export` writes the scores themselves, in columns dn_share_...
mean_of_scores <- function(table) {
  n <- table$sums[, 1]; mean <- table$sums[, 2] / n; ours <- table$found
  data.frame(cell = table$cells, mean = mean, its_error = sqrt((table$sums[, 3] - n * mean^2) / (n - 1) / n),
             estimate = ours[, 1], efficient = ours[, 2], std_error = ours[, 3], low = ours[, 4], high = ours[, 5])
}

# -- the tables --------------------------------------------------------------------------------------------------------
whole <- Filter(function(table) is.null(table$sums), tables)
results <- lapply(whole, estimate)
for (table in Filter(function(table) !is.null(table$sums), tables)) {
  cat("\n", table$asked, " (mean: of scores; the others: the numbers of deniable)\n", sep = "")
  print(mean_of_scores(table), digits = 4, row.names = FALSE)
}
for (name in names(results)) {
  cat("\n", tables[[name]]$asked, "\n", sep = "")
  print(results[[name]], digits = 4, row.names = FALSE)
}

# The numbers that deniable found, for comparison.
differences <- sapply(names(results), function(name) {
  ours <- tables[[name]]$found; theirs <- as.matrix(results[[name]][, -1])
  stopifnot(all(is.nan(ours) == is.nan(theirs)))
  max(abs(theirs - ours), na.rm = TRUE)
})
if (length(whole)) {
  cat("\nLargest difference from the numbers of deniable:", format(max(differences), digits = 2), "\n")
  stopifnot(max(differences) < 1e-5)
}
