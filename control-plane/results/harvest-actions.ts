import { insertDisagreements } from '../fleet/drain-store.ts'
import type { NewDisagreement } from '../fleet/odd-probes.ts'
import { monotonicMs, now, nowMs } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { isRefusedRow, type Tx } from '../platform/postgres.ts'
import { type Change, isOneMonitors, judge } from '../verdict/judge.ts'
import { lookAgain, movePosition, noteSaved, persistently, type ReaderTools, type Reading } from './actions.ts'
import type { SeenCertificate } from './certificates.ts'
import { hintsOf } from './hints.ts'
import type { Harvest } from './memory.ts'
import type { VerdictMeters } from './meters.ts'

/**
 * Certificates first, so that the position never passes one that is not stored; then one transaction for all that a
 * harvest changed, then the hints. A harvest without changes costs nothing.
 */
export async function storeHarvest(reading: Reading, harvest: Harvest): Promise<void> {
  const { tools } = reading
  if (harvest.certificates.size > 0) {
    await persistently(reading, () => storeSeen(tools, [...harvest.certificates.values()]))
  }
  if (harvest.changes.size > 0) await storeChanges(reading, harvest)
  for (const hint of hintsOf(harvest, newId, nowMs())) {
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
  const discarded = await persistently(reading, () =>
    judgeTogether(reading, changes, disagreements).catch(error => {
      if (isOneMonitors(error)) return judgeOneByOne(reading, changes, disagreements)
      throw error
    }),
  )
  tools.meters.judgeSeconds.observe((monotonicMs() - startedMs) / 1_000)
  noteSaved(reading)
  countTransitions(tools.meters, changes, new Set(discarded))
  if (discarded.length === 0) return
  const nowMs = reading.position.takenAtMs
  const versions = new Map(discarded.map(id => [id, 0]))
  await persistently(reading, () => lookAgain(reading, versions, { isDiscarded: true, nowMs }))
}

/** Answers the monitors whose changes are discarded. */
async function judgeTogether(reading: Reading, changes: Change[], told: NewDisagreement[]): Promise<string[]> {
  const { tools } = reading
  const { discarded } = await tools.db.transaction(async tx => {
    await movePosition(tx, reading)
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
  const { tools } = reading
  const inOrder = changes.toSorted((a, b) => (a.monitorId < b.monitorId ? -1 : 1))
  return tools.db.transaction(async tx => {
    await movePosition(tx, reading)
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
  if (!isOneMonitors(err)) throw err
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
