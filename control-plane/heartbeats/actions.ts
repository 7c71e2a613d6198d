import type { Log } from '../../shared/log.ts'
import { newPingToken } from '../monitors/actions.ts'
import { monotonicMs } from '../platform/clock.ts'
import { type Db, isRefusedRow, type Tx } from '../platform/postgres.ts'
import { type Secrets, sha256 } from '../platform/secrets.ts'
import { judge } from '../verdict/judge.ts'
import { excuseSilence, markListening, type Silence, silenceMs } from './intake-store.ts'
import { overdue } from './overdue.ts'
import {
  insertPings,
  lockDue,
  lockPinged,
  lockWithoutToken,
  prunePings,
  readWatches,
  storeHeartbeats,
  storePingToken,
} from './store.ts'
import type { Arrival, Watch } from './types.ts'
import { missBeat, nothingTaken, type Taken, takePing } from './watch.ts'

export type HeartbeatTools = { db: Db; publicUrl: string }

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

/** What one monitor's rows brought about, so that its neighbours can be served without it. */
const isOneMonitors = (error: unknown) =>
  isRefusedRow(error) || error instanceof TypeError || error instanceof RangeError

function takeTogether({ db, publicUrl }: HeartbeatTools, arrivals: Arrival[]): Promise<boolean[]> {
  const hashes = arrivals.map(({ token }) => sha256(token))
  return db.transaction(async tx => {
    const monitors = await lockPinged(tx, hashes)
    if (monitors.length === 0) return arrivals.map(() => false)
    const idOf = new Map(monitors.map(({ id, hash }) => [hash.toString('hex'), id]))
    const { watches, nowMs } = await readWatches(tx, monitors)
    const readMs = monotonicMs()
    const taken = new Map([...watches].map(([id, watch]) => [id, nothingTaken(watch)]))
    const answers = arrivals.map((arrival, i) => {
      const id = idOf.get(hashes[i]!.toString('hex'))
      if (id === undefined) return false
      const receivedAtMs = nowMs - Math.max(0, Math.floor(readMs - arrival.receivedMs))
      taken.set(id, takePing(taken.get(id)!, arrival, receivedAtMs))
      return true
    })
    await store(tx, [...taken.values()], publicUrl, new Date(nowMs))
    return answers
  })
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
export function judgeOverdue(tools: HeartbeatTools & { log: Log }, limit: number): Promise<number> {
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
export function sayListening(db: Db): Promise<{ silence: Silence; excused: number } | null> {
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
