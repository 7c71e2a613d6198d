import type { Log } from '../../shared/log.ts'
import { newPingToken } from '../monitors/actions.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { isOneMonitors, judge } from '../verdict/judge.ts'
import { excuseSilence, goOnListening, markListening, type Silence, silenceMs } from './intake-store.ts'
import { overdue } from './overdue.ts'
import {
  insertPings,
  lockDue,
  lockPinged,
  lockWithoutToken,
  prunePings,
  readWatches,
  storedArrivals,
  storeHeartbeats,
  storePingToken,
} from './store.ts'
import type { Arrival, Watch } from './types.ts'
import { missBeat, nothingTaken, type Taken, takePing } from './watch.ts'

export type HeartbeatTools = { db: Db; publicUrl: string }

/** The answer for a ping that was withdrawn before its commit: it is in the message stream. */
export class WithdrawnPing extends Error {}

/** How many pings of a monitor are kept at least; at most `PRUNED_EACH` more. */
export const KEPT_PINGS = 1_000
const PRUNED_EACH = 100

/**
 * Takes pings in one transaction (decisions 4.9): what they change of a verdict commits with them. Answers for each
 * whether its token is known; an Error for one that cannot be stored, which does not stop the others.
 */
export async function takePings(tools: HeartbeatTools, arrivals: Arrival[]): Promise<(boolean | Error)[]> {
  try {
    return await takeTogether(tools, arrivals)
  } catch (error) {
    if (!isOneMonitors(error)) throw error
    if (arrivals.length === 1) return [error as Error]
    const answers: (boolean | Error)[] = []
    for (const arrival of arrivals) answers.push(...(await takePings(tools, [arrival])))
    return answers
  }
}

function takeTogether({ db, publicUrl }: HeartbeatTools, arrivals: Arrival[]): Promise<(boolean | Error)[]> {
  return db.transaction(async tx => {
    const monitors = await lockPinged(
      tx,
      arrivals.map(({ tokenHash }) => tokenHash),
    )
    if (monitors.length === 0) return arrivals.map(() => false)
    const idOf = new Map(monitors.map(({ id, hash }) => [hash.toString('hex'), id]))
    const { watches, nowMs } = await readWatches(tx, monitors)
    const stored = await storedBefore(tx, arrivals, [...watches.keys()])
    const taken = new Map([...watches].map(([id, watch]) => [id, nothingTaken(watch)]))
    const answers = arrivals.map(arrival => {
      const id = idOf.get(arrival.tokenHash.toString('hex'))
      if (id === undefined) return false
      if (arrival.isWithdrawn) return new WithdrawnPing()
      if (stored.has(arrival.id)) return true
      taken.set(id, takePing(taken.get(id)!, arrival, Math.min(nowMs, arrival.receivedAtMs)))
      return true
    })
    await store(tx, [...taken.values()], publicUrl, new Date(nowMs))
    return answers
  })
}

/** Only a ping from the message stream can have been stored before; its monitor's row is locked by now. */
async function storedBefore(tx: Tx, arrivals: Arrival[], monitorIds: string[]): Promise<Set<string>> {
  const kept = arrivals.filter(({ isKept }) => isKept)
  if (kept.length === 0) return new Set()
  return storedArrivals(
    tx,
    monitorIds,
    kept.map(({ id }) => id),
  )
}

async function store(tx: Tx, taken: Taken[], publicUrl: string, now: Date): Promise<void> {
  const pings = taken.flatMap(one => one.pings)
  const heartbeats = taken.map(({ watch }) => ({ id: watch.monitor.id, ...watch.heartbeat }))
  await insertPings(tx, pings)
  await storeHeartbeats(tx, heartbeats)
  const full = new Set(pings.filter(ping => ping.number % PRUNED_EACH === 0).map(ping => ping.monitorId))
  await prunePings(
    tx,
    heartbeats.filter(({ id }) => full.has(id)),
    KEPT_PINGS,
  )
  const changes = taken.flatMap(({ change }) => change ?? [])
  if (changes.length > 0) await judge(tx, changes, publicUrl, now)
}

/** After so long without a sign that pings are taken nobody is overdue: they may have been sent. */
const SILENCE_LIMIT_MS = 5_000

/**
 * Passes the verdict on at most `limit` heartbeats whose success did not come in time; any number of processes may do
 * so at once. Answers how many it looked at: fewer than `limit` means that no more were due.
 */
export async function judgeOverdue(tools: HeartbeatTools & { log: Log }, limit: number): Promise<number> {
  return tools.db.transaction(async tx => {
    if ((await silenceMs(tx)) > SILENCE_LIMIT_MS) return 0
    const monitors = await lockDue(tx, limit)
    if (monitors.length === 0) return 0
    const { watches, nowMs } = await readWatches(tx, monitors)
    await judgeWatches(tx, [...watches.values()], nowMs, tools)
    return monitors.length
  })
}

const PUT_OFF_MS = 60_000

/** Together; after a refusal each under a savepoint of its own, and what is refused alone too is put off. */
async function judgeWatches(
  tx: Tx,
  watches: Watch[],
  nowMs: number,
  { publicUrl, log }: { publicUrl: string; log: Log },
): Promise<void> {
  const judgeSome = (some: Watch[]) =>
    tx.transaction(async savepoint => {
      const taken = some.flatMap(watch => judgedDue(watch, nowMs) ?? [])
      await store(savepoint, taken, publicUrl, new Date(nowMs))
    })
  try {
    await judgeSome(watches)
  } catch (refusal) {
    if (!isOneMonitors(refusal)) throw refusal
    for (const watch of watches) {
      await judgeSome([watch]).catch(async err => {
        if (!isOneMonitors(err)) throw err
        log.error({ err, monitorId: watch.monitor.id }, 'an overdue heartbeat was put off')
        await storeHeartbeats(tx, [{ id: watch.monitor.id, ...watch.heartbeat, dueAtMs: nowMs + PUT_OFF_MS }])
      })
    }
  }
}

function judgedDue(watch: Watch, nowMs: number): Taken | null {
  const finding = overdue(watch, nowMs)
  if (finding === 'overdue') return missBeat(watch, nowMs)
  if (finding === 'wait') return null
  return nothingTaken({ ...watch, heartbeat: { ...watch.heartbeat, dueAtMs: null } })
}

/**
 * Says that this process takes pings. After a silence (everything was down, or PostgreSQL was away) what could not
 * arrive is excused in the same transaction, before anybody finds it overdue: our outage is not the job's.
 */
export async function sayListening(db: Db): Promise<{ silence: Silence; excused: number } | null> {
  if (await goOnListening(db, SILENCE_LIMIT_MS)) return null
  return db.transaction(async tx => {
    const silence = await markListening(tx)
    if (silence.to.getTime() - silence.from.getTime() <= SILENCE_LIMIT_MS) return null
    return { silence, excused: await excuseSilence(tx, silence) }
  })
}

/** Gives ping URLs to heartbeat monitors that were made before there were any. */
export function givePingTokens(db: Db, secrets: Secrets): Promise<number> {
  return db.transaction(async tx => {
    const monitors = await lockWithoutToken(tx, 100)
    for (const monitor of monitors) await storePingToken(tx, monitor.id, newPingToken(monitor, secrets))
    return monitors.length
  })
}
