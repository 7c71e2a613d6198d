/** Evidence about the probe's own connection. */
export type ConnectivityEvidence = {
  /** number of self-test addresses, and how many of them answered */
  tested: number
  reachable: number
  /** checked targets by their newest check: answered, or without an answer */
  answered: number
  unanswered: number
}

/** Failures of fewer targets are not evidence about the probe's connection: they may be in the same rack. */
const MIN_TARGETS = 10
const OFFLINE_SHARE = 0.9

/**
 * Whether the probe's own connection works. With self-test addresses: one of them, or most of the targets checked
 * meanwhile, answered. Without: fewer than 90 % of at least 10 targets are without an answer.
 */
export function isNetworkOnline({ tested, reachable, answered, unanswered }: ConnectivityEvidence): boolean {
  if (tested > 0) return reachable > 0 || answered > unanswered
  const total = answered + unanswered
  return total < MIN_TARGETS || unanswered / total < OFFLINE_SHARE
}
