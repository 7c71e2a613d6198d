import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { DOUBT_RECHECK_DELAY_MS } from '../../../../shared/checks/rechecks.ts'
import { computeVoteLostMs } from '../rules/absences.ts'
import { computeVoteEndMs, computeVoteLifetimeMs } from '../rules/votes.ts'
import type { ImmediateCheckRequest, MonitorState, Policy, RegionDoubt, RegionTally, VerdictResult } from '../types.ts'
import { isVoteHeld } from './held-vote.ts'
import { ANSWER_GRACE_MS } from './second-opinion.ts'

/*
 * A region whose probe doubts its own failures has no vote for them until a second region confirms them, the probe is
 * sure again, or the region still fails in a later check and nothing contradicts it (docs/design/doubt.md).
 */

/** Least time in ms between the first doubted failure and the slot of the check by which the region decides alone. */
const MIN_DOUBT_MS = 20_000

/** The cell of a region after a counting result that is doubted or follows a doubt, and whether to ask a witness. */
export function applyDoubt(
  state: MonitorState,
  before: RegionTally,
  advanced: RegionTally,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): { cell: RegionTally; asksWitness: boolean } {
  if (isVoteHeld(before) && result.outcome !== Outcome.DOWN)
    return { cell: releaseHeldVote(advanced), asksWitness: false }
  const doubt = computeDoubt(state, before, advanced, result)
  if (doubt === null) return { cell: advanced, asksWitness: false }
  const cell = trySettleDoubt({ ...advanced, doubt }, state, policy, nowMs)
  if (!isWitnessWanted(before, cell, state, result, policy, nowMs)) return { cell, asksWitness: false }
  return { cell: { ...cell, doubt: { ...cell.doubt!, askedForMs: result.scheduledAtMs } }, asksWitness: true }
}

/** One better result ends a held vote, because it never counted. The next failure starts a new streak. */
const releaseHeldVote = (cell: RegionTally): RegionTally => ({
  ...cell,
  state: 'ok',
  notUp: cell.last!.outcome === Outcome.UP ? 0 : 1,
  better: 0,
  firstFailure: null,
})

function computeDoubt(
  { status }: MonitorState,
  before: RegionTally,
  after: RegionTally,
  result: VerdictResult,
): RegionDoubt | null {
  const known = before.doubt ?? null
  if (after.state !== 'failing' && after.failures === 0) return null
  if (result.outcome !== Outcome.DOWN) return known
  // the vote counts already, or decides nothing
  if (status === 'down' || (before.state === 'failing' && !isVoteHeld(before))) return known
  if (!result.isDoubted) return known && { ...known, settledBy: 'probe' }
  if (known?.settledBy === null) return known
  return { sinceMs: result.scheduledAtMs, askedForMs: null, witness: null, settledBy: null }
}

/**
 * A witness is asked once a slot, if no other region of the monitor votes (voting regions are asked in any case). It is
 * asked once more when a long chain makes the region failing, because an answer from its beginning may be too old by
 * the next check.
 */
function isWitnessWanted(
  before: RegionTally,
  cell: RegionTally,
  state: MonitorState,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): boolean {
  const { settledBy, askedForMs } = cell.doubt!
  if (!policy.witness || !result.isDoubted || settledBy !== null) return false
  const isTurning = before.state !== 'failing' && cell.state === 'failing'
  const isLong = isTurning && nowMs - cell.firstFailure!.atMs >= ANSWER_GRACE_MS
  if (askedForMs === result.scheduledAtMs && !isLong) return false
  return !listOthers(cell, state).some(other => computeVoteEndMs(other, state, policy) > nowMs)
}

/** Adds a request to a witness to other requests. */
export const addWitnessRequest = (
  ask: ImmediateCheckRequest | null,
  { configVersion }: Policy,
): ImmediateCheckRequest => ({
  ...(ask ?? { reason: 'doubt', regions: [], otherProbes: [] }),
  witness: { configVersion },
})

/** A region whose failing vote counts settles the doubts of the other regions. */
export function confirmHeldVotes(cells: readonly RegionTally[], failing: RegionTally): readonly RegionTally[] {
  if (failing.state !== 'failing' || isVoteHeld(failing) || !cells.some(isVoteHeld)) return cells
  return cells.map(cell => (isVoteHeld(cell) ? settleDoubt(cell, 'region') : cell))
}

/** The monitor's regions after a check by a witness. Returns the same list if the check changes nothing. */
export function applyWitnessCheck(
  state: MonitorState,
  check: VerdictResult,
  policy: Policy,
  nowMs: number,
): readonly RegionTally[] {
  const isWell = findWitnessOpinion(check)
  if (!policy.witness || policy.regions.includes(check.region) || isWell === null) return state.cells
  const isNewAnswer = ({ doubt, firstFailure }: RegionTally) =>
    doubt?.settledBy === null &&
    doubt.askedForMs !== null &&
    firstFailure !== null &&
    check.scheduledAtMs >= Math.max(doubt.sinceMs, firstFailure.scheduledAtMs) &&
    isNewerAnswer(check, isWell, doubt.witness)
  if (!state.cells.some(isNewAnswer)) return state.cells
  const witness = { check, isWell, takenAtMs: nowMs }
  return state.cells.map(cell =>
    isNewAnswer(cell) ? trySettleDoubt({ ...cell, doubt: { ...cell.doubt!, witness } }, state, policy, nowMs) : cell,
  )
}

/** The first of several witnesses asked together counts, but a contradiction counts before an error. */
function isNewerAnswer({ scheduledAtMs }: VerdictResult, isWell: boolean, known: RegionDoubt['witness']): boolean {
  if (known === null || scheduledAtMs > known.check.scheduledAtMs) return true
  return scheduledAtMs === known.check.scheduledAtMs && isWell && !known.isWell
}

/**
 * Whether a witness sees the target well; null if its check proves nothing. Without an answer, the witness itself may
 * be unable to reach the target (name, address, firewall). Doubted failures are failures without an answer, so every
 * answer except a server error contradicts them. That includes a wrong status or content, which may depend on the
 * region.
 */
function findWitnessOpinion({ outcome, statusCode, error }: VerdictResult): boolean | null {
  if (outcome !== Outcome.DOWN) return outcome === Outcome.UP || outcome === Outcome.DEGRADED ? true : null
  if (statusCode > 0) return statusCode < 500
  return error?.code === 'assertion_failed' ? true : null
}

function trySettleDoubt(cell: RegionTally, state: MonitorState, policy: Policy, nowMs: number): RegionTally {
  if (!isVoteHeld(cell)) return cell
  const others = listOthers(cell, state)
  const isVoting = (other: RegionTally) => computeVoteEndMs(other, state, policy) > nowMs
  const failing = others.filter(other => other.state === 'failing' && isRecent(other, policy, nowMs))
  // two regions in doubt confirm each other at once, unless a third one sees the target well
  const isConfirmed = failing.length > 0 && !others.some(other => other.failures === 0 && isVoting(other))
  if (isConfirmed || failing.some(other => !isVoteHeld(other))) return settleDoubt(cell, 'region')
  const { witness } = cell.doubt!
  if (witness?.isWell === false) return settleDoubt(cell, 'witness')
  const first = cell.firstFailure!
  if (!hasLaterCheck(cell)) return cell
  // a majority in doubt counts whatever the others see, if each of its regions still fails in a later check
  const failingStill = failing.filter(other => hasLaterCheck(other) && isRechecked(other, policy, nowMs))
  const isInDoubt = (other: RegionTally) => isVoteHeld(other) && isRechecked(other, policy, nowMs)
  const known = others.filter(other => isVoting(other) || isInDoubt(other))
  if (failingStill.length > 0 && (failingStill.length + 1) * 2 > known.length + 1) return settleDoubt(cell, 'region')
  const isSeenHealthy = (other: RegionTally) => other.failures === 0 && other.votedAtMs! > first.atMs && isVoting(other)
  const witnessUntilMs = witness ? witness.takenAtMs + policy.intervalMs + policy.timeoutMs + ANSWER_GRACE_MS : 0
  return nowMs < witnessUntilMs || others.some(isSeenHealthy) ? cell : settleDoubt(cell, 'limit')
}

/** Whether the newest failure is from a check that was due long enough after the first doubted one. */
const hasLaterCheck = ({ last, doubt }: RegionTally) => last!.scheduledAtMs >= doubt!.sinceMs + MIN_DOUBT_MS

/** Whether the newest result is as young as the repeated checks of a region in doubt make it. */
const isRechecked = ({ votedAtMs }: RegionTally, { timeoutMs }: Policy, nowMs: number) =>
  nowMs < votedAtMs! + DOUBT_RECHECK_DELAY_MS + timeoutMs + ANSWER_GRACE_MS

/** A region whose vote is held still confirms others, unless its result is too old or it has lost its probes. */
function isRecent(cell: RegionTally, policy: Policy, nowMs: number): boolean {
  const { votedAtMs } = cell
  if (votedAtMs === null || nowMs >= votedAtMs + computeVoteLifetimeMs(policy)) return false
  return !policy.absences || computeVoteLostMs(cell, policy.absences, null) > nowMs
}

const listOthers = ({ region }: RegionTally, { cells }: MonitorState) => cells.filter(other => other.region !== region)

const settleDoubt = (cell: RegionTally, by: RegionDoubt['settledBy']): RegionTally => ({
  ...cell,
  doubt: { ...cell.doubt!, settledBy: by },
})
