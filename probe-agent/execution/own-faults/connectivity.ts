/** What is known about the probe's own connection. */
export type ConnectivityEvidence = {
  /** addresses of the self-test, and how many of them answered */
  tested: number
  reachable: number
  /** targets of checks, by what came of their newest check: answered, or nothing came back */
  answered: number
  unanswered: number
}

/** Fewer targets than this say nothing about our own connection when all of them fail: they may share a rack. */
const TARGETS_ENOUGH = 10
const SHARE_OF_OFFLINE = 0.9

/**
 * Whether the probe's own connection works (decisions 4.3). With self-test addresses, it does when one of them, or most
 * of the targets checked meanwhile, answered. Without, it does unless nearly all of many targets went silent at once.
 */
export function isNetworkOnline({ tested, reachable, answered, unanswered }: ConnectivityEvidence): boolean {
  if (tested > 0) return reachable > 0 || answered > unanswered
  const total = answered + unanswered
  return total < TARGETS_ENOUGH || unanswered / total < SHARE_OF_OFFLINE
}
