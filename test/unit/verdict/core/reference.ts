import type { Policy, RegionState, VerdictResult, VerdictStatus } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'

/*
 * The rules of docs/design/verdict.md once more, slowly: no counters and no state. Each event is decided by reading
 * everything that came before it. Times are multiples of STEP_MS, so that "at every moment" can be looked at moment by
 * moment.
 */
export const STEP_MS = 5000

/**
 * A result as it arrives, the policy in force then, and whether a restart happened just before, which changes nothing.
 */
export type Arrival = { result: VerdictResult; policy: Policy; atMs: number; isAfterRestart: boolean }

export type JudgedArrival = Arrival & {
  use: 'counts' | 'skipped' | 'aside' | 'late' | 'refused'
  /** of the result's region, after it */
  state: RegionState
  status: VerdictStatus
  /** what the votes say; null where nothing was decided or too few vote */
  vote: VerdictStatus
  heldSinceMs: number | null
  isAsking: boolean
  /** another probe of the region alone is asked */
  isRenewing: boolean
  isDisagreeing: boolean
}

const isCounting = (outcome: Outcome) => outcome !== Outcome.UNKNOWN && outcome !== Outcome.MISSED
const isReceived = (one: JudgedArrival) => one.use !== 'refused'
const last = <T>(list: readonly T[]): T | undefined => list[list.length - 1]
const lastWhere = <T>(list: readonly T[], test: (one: T) => boolean) => last(list.filter(test))
/** The end of the list as far back as the test holds. */
const tail = <T>(list: readonly T[], test: (one: T) => boolean) => list.slice(list.findLastIndex(one => !test(one)) + 1)

export function judgeAll(arrivals: readonly Arrival[]): JudgedArrival[] {
  const judged: JudgedArrival[] = []
  for (const arrival of arrivals) judged.push(judgeNext(judged, arrival))
  return judged
}

function judgeNext(past: readonly JudgedArrival[], now: Arrival): JudgedArrival {
  const { result, policy, atMs } = now
  const before = last(past)
  const mine = selectResults(past, result.region, policy)
  const unchanged: JudgedArrival = {
    ...now,
    use: 'refused',
    state: getState(mine),
    status: before?.status ?? null,
    vote: null,
    heldSinceMs: heldBefore(past, now),
    isAsking: false,
    isRenewing: false,
    isDisagreeing: false,
  }
  const isForHistory = result.trigger === Trigger.ASIDE || result.configVersion !== policy.configVersion
  if (isForHistory || result.scheduledAtMs > atMs + 5000 || !policy.regions.includes(result.region)) {
    return { ...unchanged, heldSinceMs: before?.heldSinceMs ?? null }
  }
  const use = decideUse(mine, result)
  const mayAsk = past.every(one => !one.isAsking || atMs - one.atMs >= policy.intervalMs)
  if (use !== 'counts') return { ...unchanged, use }
  const contradiction = findContradiction(past, mine, now)
  if (contradiction !== null) {
    const isRenewing = !mayAsk && contradiction.isOutdated
    return { ...unchanged, use: 'skipped', isDisagreeing: true, isAsking: mayAsk, isRenewing }
  }
  const counted: JudgedArrival = {
    ...unchanged,
    use,
    state: nextState(mine, now),
    isAsking: mayAsk && asks(past, mine, now),
  }
  return decideStatus(past, counted)
}

/** The results of a region since it was last left out of the configuration. */
function selectResults(past: readonly JudgedArrival[], region: string, policy: Policy): JudgedArrival[] {
  const received = past.filter(isReceived)
  const kept = policy.regions.includes(region) ? tail(received, one => one.policy.regions.includes(region)) : []
  return kept.filter(one => one.result.region === region)
}

const selectCounted = (mine: readonly JudgedArrival[]) => mine.filter(one => one.use === 'counts')
const getState = (mine: readonly JudgedArrival[]): RegionState => last(selectCounted(mine))?.state ?? 'pending'

function decideUse(mine: readonly JudgedArrival[], result: VerdictResult): JudgedArrival['use'] {
  const placed = mine.filter(one => one.use === 'counts' || one.use === 'skipped')
  const isOld = mine.some(
    ({ use, result: { configVersion, epoch } }) =>
      use !== 'aside' &&
      (configVersion > result.configVersion || (configVersion === result.configVersion && epoch > result.epoch)),
  )
  if (isOld) return 'late'
  if (result.trigger === Trigger.OTHER_PROBE) return 'aside'
  const isPassed = placed.some(
    ({ result: { scheduledAtMs, attempt } }) =>
      scheduledAtMs > result.scheduledAtMs || (scheduledAtMs === result.scheduledAtMs && attempt >= result.attempt),
  )
  if (isPassed) return 'late'
  return isCounting(result.outcome) ? 'counts' : 'skipped'
}

/** Failures at the end of the region's counting results, since the target or the assertions changed last. */
function failuresIn(mine: readonly JudgedArrival[], { streaksSince }: Policy): JudgedArrival[] {
  const recent = selectCounted(mine).filter(one => one.result.configVersion >= streaksSince)
  return tail(recent, one => one.result.outcome === Outcome.DOWN)
}

function findContradiction(
  past: readonly JudgedArrival[],
  mine: readonly JudgedArrival[],
  { result, policy, atMs }: Arrival,
) {
  const streak = failuresIn(mine, policy)
  const first = streak[0]
  if (result.outcome !== Outcome.DOWN || getState(mine) === 'failing') return null
  if (first === undefined || streak.length < policy.retryCount) return null
  const since = mine.slice(mine.indexOf(first))
  const opinions = since.filter(
    one =>
      one.use === 'aside' && isCounting(one.result.outcome) && one.result.scheduledAtMs >= first.result.scheduledAtMs,
  )
  const newestMs = Math.max(...opinions.map(one => one.result.scheduledAtMs))
  const opinion = opinions.find(one => one.result.scheduledAtMs === newestMs)
  if (!opinion || opinion.result.outcome === Outcome.DOWN || opinion.result.probeId === result.probeId) return null
  const renewal = past
    .slice(past.indexOf(opinion))
    .find(one => one.isAsking || (one.isRenewing && one.result.region === result.region))
  if (renewal !== undefined && atMs >= renewal.atMs + policy.timeoutMs + 10_000) return null
  return { isOutdated: renewal === undefined && opinion.result.scheduledAtMs < result.scheduledAtMs }
}

function nextState(mine: readonly JudgedArrival[], { result, policy }: Arrival): RegionState {
  const state = getState(mine)
  const recent = selectCounted(mine).filter(one => one.result.configVersion >= policy.streaksSince)
  const outcomes = [...recent.map(one => one.result.outcome), result.outcome]
  const failures = tail(outcomes, one => one === Outcome.DOWN).length
  const notUp = tail(outcomes, one => one !== Outcome.UP).length
  const isBetter = (one: Outcome) => (state === 'failing' ? one !== Outcome.DOWN : one === Outcome.UP)
  const better = tail(outcomes, isBetter).length
  const isRecovered = better >= (policy.retryCount === 0 ? 1 : 2)
  if (state === 'failing') return !isRecovered ? 'failing' : notUp > policy.retryCount ? 'degraded' : 'ok'
  if (failures > policy.retryCount) return 'failing'
  if (state === 'degraded') return isRecovered ? 'ok' : 'degraded'
  if (notUp > policy.retryCount) return 'degraded'
  return state === 'pending' && result.outcome !== Outcome.UP ? 'pending' : 'ok'
}

function asks(past: readonly JudgedArrival[], mine: readonly JudgedArrival[], { result, policy }: Arrival): boolean {
  const status = last(past)?.status ?? null
  const askedAtMs = lastWhere(past, one => one.isAsking)?.atMs ?? Number.NEGATIVE_INFINITY
  if (result.outcome === Outcome.DOWN) {
    const streak = failuresIn(mine, policy)
    const first = getState(mine) === 'failing' ? streakStart(mine) : streak[0]
    return status !== 'down' && (streak.length === 0 || first!.atMs > askedAtMs)
  }
  const newest = lastWhere(selectCounted(mine), one => one.result.configVersion >= policy.streaksSince)
  const isFirst = newest === undefined || newest.result.outcome === Outcome.DOWN
  const ends = lastWhere(past, one => one.status === 'down' || one.status === 'up')
  return getState(mine) === 'failing' && ends?.status === 'down' && (isFirst || newest.atMs > askedAtMs)
}

type Voter = { state: RegionState; newest: JudgedArrival; endsMs: number; mine: JudgedArrival[] }

/** Who votes at a moment, by everything in `seen`. */
function votersAt(seen: readonly JudgedArrival[], policy: Policy, atMs: number): Voter[] {
  return policy.regions.flatMap(region => {
    const mine = selectResults(seen, region, policy)
    const newest = last(selectCounted(mine))
    if (newest === undefined || newest.state === 'pending') return []
    const endsMs = newest.atMs + 3 * policy.intervalMs + policy.timeoutMs
    return endsMs > atMs ? [{ state: newest.state, newest, endsMs, mine }] : []
  })
}

const isQuorum = (votes: number, policy: Policy) => votes * 2 > policy.regions.length

/** The configuration that streaks were counted by; a monitor begins with its first. */
const configBefore = (past: readonly JudgedArrival[]) => lastWhere(past, isReceived)?.policy.configVersion ?? 1

/** The hold before this result; a new configuration evaluates it again. */
function heldBefore(past: readonly JudgedArrival[], now: Arrival): number | null {
  const known = last(past)?.heldSinceMs ?? null
  if (configBefore(past) === now.policy.configVersion) return known
  const votes = votersAt(past, now.policy, now.atMs).length
  return isQuorum(votes, now.policy) ? null : (known ?? now.atMs)
}

function heldSince(past: readonly JudgedArrival[], now: JudgedArrival, votes: number): number | null {
  const { policy, atMs } = now
  if (votes === 0 || isQuorum(votes, policy)) return null
  const isAdopting = configBefore(past) !== policy.configVersion
  const looked = lastWhere(past, one => one.use === 'counts' || isAdoption(past, one))
  if (looked === undefined) return atMs
  const voters = votersAt(past, policy, 0)
  const votesAt = (momentMs: number) => voters.filter(voter => voter.endsMs > momentMs).length
  let lostAtMs: number | null = null
  for (let momentMs = Math.min(looked.atMs, atMs - STEP_MS); momentMs <= atMs; momentMs += STEP_MS) {
    if (votesAt(momentMs) === 0) return atMs
    // votes that were never enough: the wait begins with this result
    if (isQuorum(voters.length, policy) && !isQuorum(votesAt(momentMs), policy)) lostAtMs ??= momentMs
  }
  return now.heldSinceMs ?? (isAdopting ? atMs : (lostAtMs ?? atMs))
}

function isAdoption(past: readonly JudgedArrival[], one: JudgedArrival): boolean {
  return isReceived(one) && configBefore(past.slice(0, past.indexOf(one))) !== one.policy.configVersion
}

function decideStatus(past: readonly JudgedArrival[], now: JudgedArrival): JudgedArrival {
  const { policy, atMs, status } = now
  const voters = votersAt([...past, now], policy, atMs)
  const heldSinceMs = heldSince(past, now, voters.length)
  const allDueMs = policy.intervalMs + (policy.retryCount + 1) * policy.timeoutMs + 60_000
  const waitMs = status === null ? Math.min(300_000, 2.5 * policy.intervalMs) : Math.max(300_000, allDueMs)
  const isReduced = heldSinceMs !== null && atMs - heldSinceMs >= waitMs
  if (!isQuorum(voters.length, policy) && !isReduced) return { ...now, heldSinceMs }
  const failing = voters.filter(voter => voter.state === 'failing')
  const degraded = voters.filter(voter => voter.state === 'degraded')
  const vote =
    failing.length * 2 > voters.length
      ? 'down'
      : failing.length > 0 || degraded.length * 2 > voters.length
        ? 'degraded'
        : 'up'
  const isConfirmed = now.result.outcome === Outcome.DOWN || status === null || status === 'down'
  if (vote === 'down' && !isConfirmed) return { ...now, heldSinceMs }
  const decided = { ...now, vote, heldSinceMs } as const
  if (vote !== 'degraded' || status === 'degraded') return { ...decided, status: vote }
  if (status === 'down') {
    const isDown = tail(past, one => one.status === 'down')
    const gone = tail(
      isDown.filter(one => one.vote !== null),
      one => one.vote !== 'down',
    )[0]
    const isRechecking = voters.some(voter => isRechecked(voter, now))
    const isOver = gone && atMs - gone.atMs >= policy.intervalMs && !isRechecking
    return { ...decided, status: isOver ? 'degraded' : 'down' }
  }
  const isKnown = degraded.length * 2 > voters.length || haveAnswered(voters, failing, decided)
  return isKnown ? { ...decided, status: 'degraded' } : decided
}

function isRechecked({ state, newest, mine }: Voter, { policy, atMs }: JudgedArrival): boolean {
  return state !== 'failing' && failuresIn(mine, policy).length > 0 && atMs < newest.atMs + policy.timeoutMs + 10_000
}

function haveAnswered(voters: readonly Voter[], failing: readonly Voter[], { policy, atMs }: JudgedArrival): boolean {
  const sinceMs = Math.min(...failing.map(({ mine }) => streakStart(mine).atMs))
  const dueMs = Math.min(...failing.map(({ mine }) => streakStart(mine).result.scheduledAtMs))
  return voters.every(({ state, newest, mine }) => {
    const isGrowing = failuresIn(mine, policy).length > 0
    const isLater = newest.result.attempt > 1 || newest.result.scheduledAtMs > dueMs
    if (state === 'failing' || (newest.atMs > sinceMs && isLater && !isGrowing)) return true
    return atMs >= Math.max(newest.atMs, sinceMs) + policy.timeoutMs + 10_000
  })
}

/** The first failure of the streak that made the region failing. */
function streakStart(mine: readonly JudgedArrival[]): JudgedArrival {
  const counted = selectCounted(mine)
  const began = counted.length - tail(counted, one => one.state === 'failing').length
  const deciding = counted[began]!
  return failuresIn(counted.slice(0, began + 1), deciding.policy)[0]!
}
