import type { Log } from '../../../shared/process/log.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import {
  type Db,
  isLockTimeout,
  isTenantError,
  setLockTimeout,
  type Tx,
} from '../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { createPingToken } from '../../monitoring/monitors/actions.ts'
import { applyDecisions } from '../core/decision-actions.ts'
import {
  extendDeadlines,
  type IntakeGap,
  loadIntakeGapMs,
  renewIntakeAlive,
  restartIntake,
  STORING_MS,
} from './intake/intake-store.ts'
import { checkOverdue } from './overdue.ts'
import { applyPing, createPingEffects, markOverdue, type PingEffects } from './ping-effects.ts'
import {
  findKnownTokens,
  findStoredArrivals,
  insertPings,
  listOtherDue,
  loadHeartbeats,
  lockByTokens,
  lockDueHeartbeats,
  lockWithoutToken,
  notifyDeadline,
  prunePings,
  storeHeartbeats,
  storePingToken,
} from './store.ts'
import type { HeartbeatMonitor, LockedHeartbeat, PingAnswer, PingArrival } from './types.ts'

export type HeartbeatTools = { db: Db; publicUrl: string }

/** A ping was withdrawn before its commit, because it is in the message stream. */
export class WithdrawnPingError extends Error {}

/** How many pings of a monitor are kept at least; up to `PINGS_PER_PRUNING` more. */
export const MIN_KEPT_PINGS = 1_000
const PINGS_PER_PRUNING = 100

/** How long work on several monitors waits for each lock, and work on one of them after that. */
const BATCH_LOCK_MS = 1_000
const ALONE_LOCK_MS = 200

/**
 * Stores pings in one transaction, together with what they change in the verdict. Returns for each its answer, or an
 * Error if it cannot be stored, which does not stop the others:
 *
 * 1. Lock the monitors of the tokens, in the order of their ids. The pings of those that are locked already are `locked`.
 * 2. Load heartbeats and verdict states, and PostgreSQL's time.
 * 3. Find queued pings that are stored already.
 * 4. Apply the pings in order; leave out withdrawn and stored ones.
 * 5. Insert pings, update heartbeats, delete old pings.
 * 6. Apply the decisions (`applyDecisions`).
 *
 * After an error caused by one monitor or by another locked row, each ping is stored in its own transaction.
 */
export async function storePings(tools: HeartbeatTools, arrivals: PingArrival[]): Promise<(PingAnswer | Error)[]> {
  try {
    return await storeBatch(tools, arrivals, BATCH_LOCK_MS)
  } catch (error) {
    if (!isTenantError(error)) throw error
    return arrivals.length === 1 ? [toAnswer(error)] : storeOneByOne(tools, arrivals)
  }
}

/** After a ping that is `locked`, the later ones of its monitor are too, so that they stay in order. */
async function storeOneByOne(tools: HeartbeatTools, arrivals: PingArrival[]): Promise<(PingAnswer | Error)[]> {
  const locked = new Set<string>()
  const answers: (PingAnswer | Error)[] = []
  for (const arrival of arrivals) {
    const token = toKey(arrival.tokenHash)
    const answer = locked.has(token) ? 'locked' : await storeAlone(tools, arrival)
    if (answer === 'locked') locked.add(token)
    answers.push(answer)
  }
  return answers
}

async function storeAlone(tools: HeartbeatTools, arrival: PingArrival): Promise<PingAnswer | Error> {
  try {
    return (await storeBatch(tools, [arrival], ALONE_LOCK_MS))[0]!
  } catch (error) {
    if (!isTenantError(error)) throw error
    return toAnswer(error)
  }
}

const toAnswer = (error: unknown): 'locked' | Error => (isLockTimeout(error) ? 'locked' : (error as Error))

const toKey = (hash: Buffer) => hash.toString('hex')

function storeBatch(
  { db, publicUrl }: HeartbeatTools,
  arrivals: PingArrival[],
  lockMs: number,
): Promise<(PingAnswer | Error)[]> {
  return db.transaction(async tx => {
    await setLockTimeout(tx, lockMs)
    const { monitors, lockedTokens } = await lockFreeMonitors(tx, arrivals)
    const answerWithout = (token: string) => (lockedTokens.has(token) ? 'locked' : false)
    if (monitors.length === 0) return arrivals.map(({ tokenHash }) => answerWithout(toKey(tokenHash)))
    const idsByToken = new Map(monitors.map(({ id, hash }) => [toKey(hash), id]))
    const { locked, nowMs } = await loadHeartbeats(tx, monitors)
    const stored = await findStoredBefore(tx, arrivals, [...locked.keys()])
    const effects = new Map([...locked].map(([id, one]) => [id, createPingEffects(one)]))
    const answers = arrivals.map(arrival => {
      const token = toKey(arrival.tokenHash)
      const id = idsByToken.get(token)
      if (id === undefined) return answerWithout(token)
      if (arrival.isWithdrawn) return new WithdrawnPingError()
      if (stored.has(arrival.id)) return true
      effects.set(id, applyPing(effects.get(id)!, arrival, Math.min(nowMs, arrival.receivedAtMs), nowMs))
      return true
    })
    await storeEffects(tx, [...effects.values()], publicUrl, new Date(nowMs))
    return answers
  })
}

/** Locks the monitors of pings that are free, and finds the tokens of those that another transaction has locked. */
async function lockFreeMonitors(tx: Tx, arrivals: PingArrival[]) {
  const monitors = await lockByTokens(
    tx,
    arrivals.map(({ tokenHash }) => tokenHash),
  )
  const free = new Set(monitors.map(({ hash }) => toKey(hash)))
  const others = arrivals.flatMap(({ tokenHash }) => (free.has(toKey(tokenHash)) ? [] : tokenHash))
  const known = others.length === 0 ? [] : await findKnownTokens(tx, others)
  return { monitors, lockedTokens: new Set(known.map(toKey)) }
}

/** Only a ping that may be in the message stream can be stored already. Its monitor is locked by now. */
async function findStoredBefore(tx: Tx, arrivals: PingArrival[], monitorIds: string[]): Promise<Set<string>> {
  const kept = arrivals.filter(({ isKept }) => isKept)
  if (kept.length === 0) return new Set()
  return findStoredArrivals(
    tx,
    monitorIds,
    kept.map(({ id }) => id),
  )
}

async function storeEffects(tx: Tx, effects: PingEffects[], publicUrl: string, now: Date): Promise<void> {
  const pings = effects.flatMap(one => one.pings)
  const heartbeats = effects.map(({ locked: one }) => ({ id: one.monitor.id, ...one.heartbeat }))
  await insertPings(tx, pings)
  await storeHeartbeats(tx, heartbeats)
  if (effects.some(hasFirstDeadline)) await notifyDeadline(tx)
  const full = new Set(pings.filter(ping => ping.number % PINGS_PER_PRUNING === 0).map(ping => ping.monitorId))
  await prunePings(
    tx,
    heartbeats.filter(({ id }) => full.has(id)),
    MIN_KEPT_PINGS,
  )
  const changes = effects.flatMap(({ change }) => change ?? [])
  if (changes.length > 0) await applyDecisions(tx, changes, publicUrl, now)
}

const hasFirstDeadline = ({ locked, dueBeforeMs }: PingEffects) =>
  dueBeforeMs === null && locked.heartbeat.dueAtMs !== null

/** How many skipped heartbeats are noted in a round. */
const MAX_SKIPPED = 10_000
/** After a longer gap in the acceptance of pings no heartbeat is overdue, because its ping may have been sent. */
const MAX_INTAKE_GAP_MS = 5_000

/**
 * Evaluates at most `limit` heartbeats whose success may be overdue. Any number of processes may run it. Returns the
 * number of evaluated heartbeats: fewer than `limit` means that no more are due.
 *
 * A heartbeat that was locked is evaluated `STORING_MS` after the lock has ended: pings that arrived meanwhile are queued, and
 * have to be stored first. `skipped`, kept between calls: when heartbeats were last seen locked, by id, in monotonic ms.
 */
export async function evaluateOverdue(
  tools: HeartbeatTools & { log: Log },
  limit: number,
  skipped = new Map<string, number>(),
): Promise<number> {
  return tools.db.transaction(async tx => {
    if ((await loadIntakeGapMs(tx)) > MAX_INTAKE_GAP_MS) return 0
    const due = await lockDueHeartbeats(tx, limit)
    if (due.length < limit) await noteSkipped(tx, due, skipped)
    const monitors = due.filter(({ id }) => !skipped.has(id))
    if (monitors.length === 0) return 0
    const { locked, nowMs } = await loadHeartbeats(tx, monitors)
    // the clock may have been set ahead meanwhile
    if ((await loadIntakeGapMs(tx)) > MAX_INTAKE_GAP_MS) return 0
    await evaluateHeartbeats(tx, [...locked.values()], nowMs, tools)
    return monitors.length
  })
}

/** Notes the due heartbeats that could not be locked, and forgets those that have been free for long enough. */
async function noteSkipped(tx: Tx, locked: HeartbeatMonitor[], skipped: Map<string, number>): Promise<void> {
  const atMs = monotonicMs()
  for (const [id, skippedMs] of skipped) if (atMs - skippedMs > STORING_MS) skipped.delete(id)
  const ids = locked.map(({ id }) => id)
  for (const id of await listOtherDue(tx, ids, MAX_SKIPPED)) skipped.set(id, atMs)
}

const RETRY_DELAY_MS = 60_000

/**
 * Evaluates all together; after an error each under its own savepoint, and defers one that fails alone. One with another
 * locked row stays due.
 */
async function evaluateHeartbeats(
  tx: Tx,
  locked: LockedHeartbeat[],
  nowMs: number,
  { publicUrl, log }: { publicUrl: string; log: Log },
): Promise<void> {
  const evaluateSome = (some: LockedHeartbeat[]) =>
    tx.transaction(async savepoint => {
      const effects = some.flatMap(one => evaluateDue(one, nowMs) ?? [])
      await storeEffects(savepoint, effects, publicUrl, new Date(nowMs))
    })
  try {
    await setLockTimeout(tx, BATCH_LOCK_MS)
    await evaluateSome(locked)
  } catch (error) {
    if (!isTenantError(error)) throw error
    await setLockTimeout(tx, ALONE_LOCK_MS)
    for (const one of locked) {
      await evaluateSome([one]).catch(async err => {
        if (!isTenantError(err)) throw err
        if (isLockTimeout(err)) return
        log.error({ err, monitorId: one.monitor.id }, 'cannot evaluate an overdue heartbeat; retrying later')
        await storeHeartbeats(tx, [{ id: one.monitor.id, ...one.heartbeat, dueAtMs: nowMs + RETRY_DELAY_MS }])
      })
    }
  }
}

function evaluateDue(one: LockedHeartbeat, nowMs: number): PingEffects | null {
  const action = checkOverdue(one, nowMs)
  if (action === 'overdue') return markOverdue(one, nowMs)
  if (action === 'wait') return null
  return createPingEffects({ ...one, heartbeat: { ...one.heartbeat, dueAtMs: null } })
}

/** `outage`: no process accepted pings for some time, and `excused` heartbeats got a later deadline. */
type IntakeRecord = { hasDeadlines: boolean; outage: { gap: IntakeGap; excused: number } | null }

/**
 * Records that this process accepts pings. After a gap (no process ran, or PostgreSQL was unavailable), the deadlines
 * of pings that could not arrive are extended in the same transaction, before they count as overdue. Without deadlines
 * there is no gap.
 */
export async function recordIntakeAlive(db: Db): Promise<IntakeRecord> {
  const { isRecorded, hasDeadlines } = await renewIntakeAlive(db, MAX_INTAKE_GAP_MS)
  if (isRecorded) return { hasDeadlines, outage: null }
  const outage = await db.transaction(async tx => {
    const gap = await restartIntake(tx)
    if (gap.to.getTime() - gap.from.getTime() <= MAX_INTAKE_GAP_MS) return null
    return { gap, excused: await extendDeadlines(tx, gap) }
  })
  return { hasDeadlines: true, outage }
}

/** Assigns ping URLs to heartbeat monitors without one. */
export function assignPingTokens(db: Db, secrets: SecretCipher): Promise<number> {
  return db.transaction(async tx => {
    const monitors = await lockWithoutToken(tx, 100)
    for (const monitor of monitors) await storePingToken(tx, monitor.id, createPingToken(monitor, secrets))
    return monitors.length
  })
}
