import { insertDisagreements } from '../fleet/drain-store.ts'
import type { NewDisagreement } from '../fleet/odd-probes.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isRefusedRow, type Tx } from '../platform/postgres.ts'
import type { Change } from '../verdict/judge.ts'
import { lookAgain, movePosition, noteSaved, persistently, type ReaderTools, type Reading } from './actions.ts'
import { keyOfCertificate, type SeenCertificate } from './certificates.ts'
import { addWaiting, noteJudged } from './counting.ts'
import { noteDeferred, sortOut } from './deferred-actions.ts'
import { insertDeferred } from './deferred-store.ts'
import { publishHints } from './hint-actions.ts'
import { isHeld, isOneTenants, judgeApart, judgeFree, type Outcome } from './judging-actions.ts'
import type { Harvest } from './memory.ts'
import { countHarvest, countTransitions } from './meters.ts'

/** How long the other tenants of a partition wait for locked rows of one, once. */
const LOCK_MS = 500

/**
 * Certificates first, so that the position never passes one that is not stored; then one transaction for all that a
 * harvest changed, then the hints. A harvest without changes costs nothing.
 */
export async function storeHarvest(reading: Reading, harvest: Harvest): Promise<void> {
  const { tools } = reading
  if (harvest.certificates.size > 0) await storeSeen(reading, [...harvest.certificates.values()])
  addWaiting(reading, harvest)
  if (harvest.changes.size > 0) await storeChanges(reading, harvest)
  publishHints(tools.nats, harvest)
  const witnesses = harvest.asks.filter(({ ask }) => ask.witness).length
  if (witnesses > 0) tools.meters.witnesses.inc(witnesses)
  tools.meters.unstored.set({ partition: reading.partition.id }, reading.unstored.size)
  countHarvest(tools.meters, harvest)
  tools.meters.disagreements.inc(harvest.disagreements.length)
}

/** Those of a monitor whose row is locked are noted again from its next result. */
async function storeSeen(reading: Reading, seen: SeenCertificate[]): Promise<void> {
  const { storeCertificates, setAside } = reading.tools
  const locked = await persistently(reading, () =>
    storeCertificates(seen).catch(err => {
      if (!isRefusedRow(err)) throw err
      setAside('certificates', 'certificates were set aside', { err, count: seen.length })
      return [] as string[]
    }),
  )
  for (const one of seen) if (locked.includes(one.monitorId)) reading.certificates.delete(keyOfCertificate(one))
}

async function storeChanges(reading: Reading, harvest: Harvest): Promise<void> {
  const { tools, memory } = reading
  const changes = [...harvest.changes.values()].map(change => ({
    ...change,
    state: memory.get(change.monitorId)!.state,
  }))
  const startedMs = monotonicMs()
  const outcome = await persistently(reading, () => judgeHarvest(reading, changes, harvest.disagreements))
  tools.meters.judgeSeconds.observe((monotonicMs() - startedMs) / 1_000)
  noteSaved(reading)
  noteDeferred(reading, outcome, harvest.before)
  const { discarded } = outcome
  noteJudged(reading, harvest, discarded)
  countTransitions(tools.meters, changes, new Set([...discarded, ...outcome.deferred.map(one => one.monitorId)]))
  tools.meters.discarded.inc(discarded.length)
  if (discarded.length === 0) return
  const versions = new Map(discarded.map(id => [id, 0]))
  await persistently(reading, () => lookAgain(reading, versions, { isDiscarded: false }))
}

/**
 * One transaction: the position, and every change either with all that follows from it or deferred as it is. After a
 * refusal, or when a lock does not come, the same again with each tenant apart.
 */
async function judgeHarvest(reading: Reading, changes: Change[], told: NewDisagreement[]): Promise<Outcome> {
  const { tools, partition } = reading
  const { ready, waiting } = await sortOut(reading, changes)
  const inTransaction = (judgeReady: (tx: Tx) => Promise<Outcome>) =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_MS)
      await storeDisagreements(tx, tools, told)
      const outcome = await judgeReady(tx)
      const deferred = [...waiting, ...outcome.deferred]
      await insertDeferred(tx, partition.id, deferred)
      return { ...outcome, deferred }
    })
  return inTransaction(tx => judgeFree(tx, ready, tools)).catch(error => {
    if (isOneTenants(error)) return inTransaction(tx => judgeApart(tx, ready, tools))
    throw error
  })
}

/** Of use to the operator only: what the database refuses holds up no verdict. */
async function storeDisagreements(tx: Tx, { setAside }: ReaderTools, rows: NewDisagreement[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .transaction(savepoint => insertDisagreements(savepoint, rows))
    .catch(err => {
      if (!isRefusedRow(err) && !isHeld(err)) throw err
      setAside('disagreements', 'disagreements were set aside', { err, count: rows.length })
    })
}
