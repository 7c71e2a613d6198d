import type { Log } from '../../shared/log.ts'
import { RESULTS_STREAM } from '../../shared/subjects.ts'
import { insertDisagreements } from '../fleet/drain-store.ts'
import type { NewDisagreement } from '../fleet/odd-probes.ts'
import { monotonicMs, now } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { logNowMs, type Nats } from '../platform/nats.ts'
import { streamState, takenAtMs } from '../platform/ordered-reader.ts'
import { type Db, isRefusedRow, type Tx } from '../platform/postgres.ts'
import { type Change, judge } from '../verdict/judge.ts'
import type { KnownCertificates, SeenCertificate } from './certificates.ts'
import { hintsOf } from './hints.ts'
import { type LogTime, newLogTime } from './log-time.ts'
import { countHeld, type Harvest, type Memory, takeUp } from './memory.ts'
import type { VerdictMeters } from './meters.ts'
import { droppedSince, type Start, startOf } from './start-position.ts'
import { partitionAt, storePosition, watchesOf, watchesOfPartition } from './store.ts'

/** How long a partition stays its owner's without a sign of life. */
export const LEASE_MS = 7_000

export type ReaderTools = {
  db: Db
  nats: Nats
  log: Log
  meters: VerdictMeters
  publicUrl: string
  /** keeps certificates not met before; the same ones again change nothing */
  storeCertificates: (seen: SeenCertificate[]) => Promise<void>
}

/** What one reading of a partition goes by, from a (re)start to its end. */
export type Reading = {
  tools: ReaderTools
  partition: { id: number; epoch: number }
  memory: Memory
  certificates: KnownCertificates
  /** monitors to read again before the next result counts */
  stale: Set<string>
  /** the date of the stream that is being read */
  streamCreated: string
  start: Start
  logTime: LogTime
  /** up to where results are counted */
  position: { sequence: number; takenAtMs: number | null }
  saved: { sequence: number; atMs: number }
  /** how far restored states have been told when reading goes on: at the first old message, at the first new one */
  restored: 'not' | 'for_recall' | 'for_counting'
}

/** Loads what a partition's owner has to know. Throws a FencedError when it is the owner no more. */
export async function beginReading(
  tools: ReaderTools,
  owned: { id: number; epoch: number },
  stale: Set<string>,
): Promise<Reading> {
  const partition = await partitionAt(tools.db, owned.id, owned.epoch)
  const stream = await streamState(tools.nats, RESULTS_STREAM)
  const start = startOf(partition, stream, await takenAtMs(tools.nats, RESULTS_STREAM, partition.position))
  if (start.position < partition.position) {
    tools.log.warn({ partition: owned.id, ...stream, stored: partition.position }, 'the stream was made again')
  }
  const { position } = start
  tools.log.info({ event: 'reading', partition: owned.id, epoch: owned.epoch, position }, 'a partition is read on')
  const memory: Memory = new Map()
  for (const stored of await watchesOfPartition(tools.db, owned.id)) {
    takeUp(memory, stored.id, stored, { lookedForVersion: stored.configVersion, isDiscarded: false, nowMs: null })
  }
  noteGap(tools, owned.id, memory, droppedSince(start, stream))
  return {
    tools,
    partition: owned,
    memory,
    certificates: new Map(),
    stale,
    streamCreated: stream.created,
    start,
    logTime: newLogTime(logNowMs(tools.nats), monotonicMs()),
    position: { sequence: start.position, takenAtMs: start.positionAtMs },
    saved: { sequence: partition.streamCreated === stream.created ? partition.position : -1, atMs: monotonicMs() },
    restored: 'not',
  }
}

/** Reading goes on at the first message that is there. Without monitors nothing of the partition was among the others. */
function noteGap({ meters, log }: ReaderTools, partition: number, memory: Memory, dropped: number): void {
  if (dropped === 0 || memory.size === 0) return
  meters.gaps.inc()
  log.warn({ partition, dropped }, 'messages left the stream after the stored position; reading goes on behind them')
}

/**
 * Reads monitors from the database into memory; one that is not of this partition is unknown here. `versions`: by
 * monitor, the config version because of which it is looked for.
 */
export async function lookAgain(
  { tools, memory, partition }: Reading,
  versions: Map<string, number>,
  options: { isDiscarded: boolean; nowMs: number | null },
): Promise<void> {
  const rows = await watchesOf(tools.db, partition.id, [...versions.keys()])
  const stored = new Map(rows.map(row => [row.id, row]))
  for (const [id, version] of versions) {
    const row = stored.get(id) ?? null
    takeUp(memory, id, row, { ...options, lookedForVersion: Math.max(version, row?.configVersion ?? 0) })
  }
}

/**
 * Certificates first, so that the position never passes one that is not stored; then one transaction for all that a
 * harvest changed, then the hints. A harvest without changes costs nothing.
 */
export async function storeHarvest(reading: Reading, harvest: Harvest): Promise<void> {
  const { tools } = reading
  if (harvest.certificates.size > 0) await storeSeen(tools, [...harvest.certificates.values()])
  if (harvest.changes.size > 0) await storeChanges(reading, harvest)
  for (const hint of hintsOf(harvest, newId, logNowMs(tools.nats))) {
    tools.nats.connection.publish(hint.subject, JSON.stringify(hint.body))
  }
  for (const [kind, count] of Object.entries(harvest.kinds)) tools.meters.results.inc({ kind }, count)
  tools.meters.disagreements.inc(harvest.disagreements.length)
}

async function storeSeen({ storeCertificates, meters, log }: ReaderTools, seen: SeenCertificate[]): Promise<void> {
  await storeCertificates(seen).catch(err => {
    if (!isRefusedRow(err)) throw err
    meters.setAside.inc({ what: 'certificates' })
    log.error({ err, count: seen.length }, 'certificates were set aside')
  })
}

async function storeChanges(reading: Reading, harvest: Harvest): Promise<void> {
  const { tools, memory } = reading
  const changes = [...harvest.changes.values()].map(change => ({
    ...change,
    state: memory.get(change.monitorId)!.state,
  }))
  const startedMs = monotonicMs()
  const { disagreements } = harvest
  const discarded = await judgeTogether(reading, changes, disagreements).catch(error => {
    if (isRefusedRow(error)) return judgeOneByOne(reading, changes, disagreements)
    throw error
  })
  tools.meters.judgeSeconds.observe((monotonicMs() - startedMs) / 1_000)
  noteSaved(reading)
  countTransitions(tools.meters, changes, new Set(discarded))
  if (discarded.length === 0) return
  const nowMs = reading.position.takenAtMs
  await lookAgain(reading, new Map(discarded.map(id => [id, 0])), { isDiscarded: true, nowMs })
}

/** Answers the monitors whose changes are discarded. */
async function judgeTogether(reading: Reading, changes: Change[], told: NewDisagreement[]): Promise<string[]> {
  const { tools, partition } = reading
  const { discarded } = await tools.db.transaction(async tx => {
    await storePosition(tx, partition, positionOf(reading), LEASE_MS)
    await storeDisagreements(tx, tools, told)
    return judge(tx, changes, tools.publicUrl, now())
  })
  return discarded
}

/**
 * After a refusal: one bad row never stops its neighbours. Each change under a savepoint of its own, in the order in
 * which rows are locked, in one transaction with the position; what is refused alone too is set aside.
 */
async function judgeOneByOne(reading: Reading, changes: Change[], told: NewDisagreement[]): Promise<string[]> {
  const { tools, partition } = reading
  const inOrder = changes.toSorted((a, b) => (a.monitorId < b.monitorId ? -1 : 1))
  return tools.db.transaction(async tx => {
    await storePosition(tx, partition, positionOf(reading), LEASE_MS)
    await storeDisagreements(tx, tools, told)
    const discarded: string[] = []
    for (const change of inOrder) {
      const judgement = await tx
        .transaction(savepoint => judge(savepoint, [change], tools.publicUrl, now()))
        .catch(err => setAside(tools, change.monitorId, err))
      discarded.push(...judgement.discarded)
    }
    return discarded
  })
}

/** Of use to the operator only: what the database refuses holds up no verdict. */
async function storeDisagreements(tx: Tx, { meters, log }: ReaderTools, rows: NewDisagreement[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .transaction(savepoint => insertDisagreements(savepoint, rows))
    .catch(err => {
      if (!isRefusedRow(err)) throw err
      meters.setAside.inc({ what: 'disagreements' })
      log.error({ err, count: rows.length }, 'disagreements were set aside')
    })
}

function setAside({ meters, log }: ReaderTools, monitorId: string, err: unknown): { discarded: string[] } {
  if (!isRefusedRow(err)) throw err
  meters.setAside.inc({ what: 'decision' })
  log.error({ err, monitorId }, 'a decision was set aside')
  return { discarded: [monitorId] }
}

function countTransitions(meters: VerdictMeters, changes: Change[], discarded: Set<string>): void {
  meters.discarded.inc(discarded.size)
  for (const { monitorId, transitions } of changes) {
    if (!discarded.has(monitorId)) for (const { to } of transitions) meters.transitions.inc({ status: to })
  }
}

/** Stores how far results are counted when only memory has changed since the last time. */
export async function savePosition(reading: Reading): Promise<void> {
  const { tools, partition, memory, position, saved } = reading
  tools.meters.held.set({ partition: partition.id }, countHeld(memory))
  if (position.sequence !== saved.sequence) {
    await storePosition(tools.db, partition, positionOf(reading), LEASE_MS)
  }
  noteSaved(reading)
}

const positionOf = ({ position, streamCreated }: Reading) => ({ ...position, streamCreated })

function noteSaved(reading: Reading): void {
  reading.saved = { sequence: reading.position.sequence, atMs: monotonicMs() }
}
