/** The exact binomial distribution. */

/**
 * The probability of at least `k` of `n` when each happens with the probability `p`. Sums in logarithms, so that it is
 * exact to about 12 digits for any `n` that an account has.
 */
export function atLeast(k: number, n: number, p: number): number {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  let choose = 0;
  let sum = 0;
  for (let i = 0; i <= n; i += 1) {
    if (i >= k) sum += Math.exp(choose + i * Math.log(p) + (n - i) * Math.log1p(-p));
    choose += Math.log(n - i) - Math.log(i + 1);
  }
  return Math.min(1, sum);
}
