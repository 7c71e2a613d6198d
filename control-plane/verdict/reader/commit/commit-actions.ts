import { isInvalidRowError, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { insertDisagreements } from '../../../monitoring/fleet/probes/drain-store.ts'
import type { NewDisagreement } from '../../../monitoring/fleet/probes/outlier.ts'
import type { VerdictChange } from '../../core/decision-actions.ts'
import type { BatchEffects } from '../counting/batch-effects.ts'
import { getCertificateKey, type ObservedCertificate } from '../counting/certificates.ts'
import { addWaitingChanges, markCommitted } from '../counting/counting-state.ts'
import { recordEffects, recordTransitions } from '../metrics.ts'
import {
  markSaved,
  movePosition,
  type PartitionReading,
  type ReaderTools,
  reloadMonitors,
  retryUntilDone,
} from '../reading-actions.ts'
import { type ApplyOutcome, applyPerProject, applyUnlocked, isLockTimeout, isTenantError } from './apply-actions.ts'
import { recordDeferred, splitByDeferral } from './deferred-actions.ts'
import { insertDeferredChanges } from './deferred-store.ts'
import { publishHints } from './hint-actions.ts'

/** How long the other tenants of a partition wait for locked rows of one, once. */
const LOCK_TIMEOUT_MS = 500

/**
 * Certificates first, so that the position never passes one that is not stored; then one transaction for all that a
 * effects changed, then the hints. A effects without changes costs nothing.
 */
export async function commitEffects(reading: PartitionReading, effects: BatchEffects): Promise<void> {
  const { tools } = reading
  if (effects.certificates.size > 0) await storeNewCertificates(reading, [...effects.certificates.values()])
  addWaitingChanges(reading, effects)
  if (effects.changes.size > 0) await storeChanges(reading, effects)
  publishHints(tools.nats, effects)
  const witnesses = effects.asks.filter(({ ask }) => ask.witness).length
  if (witnesses > 0) tools.meters.witnesses.inc(witnesses)
  tools.meters.unstored.set({ partition: reading.partition.id }, reading.unstored.size)
  recordEffects(tools.meters, effects)
  tools.meters.disagreements.inc(effects.disagreements.length)
}

/** Those of a monitor whose row is locked are noted again from its next result. */
async function storeNewCertificates(reading: PartitionReading, seen: ObservedCertificate[]): Promise<void> {
  const { storeCertificates, setAside } = reading.tools
  const locked = await retryUntilDone(reading, () =>
    storeCertificates(seen).catch(err => {
      if (!isInvalidRowError(err)) throw err
      setAside('certificates', 'certificates were set aside', { err, count: seen.length })
      return [] as string[]
    }),
  )
  for (const one of seen) if (locked.includes(one.monitorId)) reading.certificates.delete(getCertificateKey(one))
}

async function storeChanges(reading: PartitionReading, effects: BatchEffects): Promise<void> {
  const { tools, memory } = reading
  const changes = [...effects.changes.values()].map(change => ({
    ...change,
    state: memory.get(change.monitorId)!.state,
  }))
  const startedMs = monotonicMs()
  const outcome = await retryUntilDone(reading, () => applyInTransaction(reading, changes, effects.disagreements))
  tools.meters.judgeSeconds.observe((monotonicMs() - startedMs) / 1_000)
  markSaved(reading)
  recordDeferred(reading, outcome, effects.statesBefore)
  const { discarded } = outcome
  markCommitted(reading, effects, discarded)
  recordTransitions(tools.meters, changes, new Set([...discarded, ...outcome.deferred.map(one => one.monitorId)]))
  tools.meters.discarded.inc(discarded.length)
  if (discarded.length === 0) return
  const versions = new Map(discarded.map(id => [id, 0]))
  await retryUntilDone(reading, () => reloadMonitors(reading, versions, { isDiscarded: false }))
}

/**
 * One transaction: the position, and every change either with all that follows from it or deferred as it is. After a
 * refusal, or when a lock does not come, the same again with each tenant apart.
 */
async function applyInTransaction(
  reading: PartitionReading,
  changes: VerdictChange[],
  disagreements: NewDisagreement[],
): Promise<ApplyOutcome> {
  const { tools, partition } = reading
  const { ready, waiting } = await splitByDeferral(reading, changes)
  const inTransaction = (applyReady: (tx: Tx) => Promise<ApplyOutcome>) =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_TIMEOUT_MS)
      await storeDisagreements(tx, tools, disagreements)
      const outcome = await applyReady(tx)
      const deferred = [...waiting, ...outcome.deferred]
      await insertDeferredChanges(tx, partition.id, deferred)
      return { ...outcome, deferred }
    })
  return inTransaction(tx => applyUnlocked(tx, ready, tools)).catch(error => {
    if (isTenantError(error)) return inTransaction(tx => applyPerProject(tx, ready, tools))
    throw error
  })
}

/** Of use to the operator only: what the database refuses holds up no verdict. */
async function storeDisagreements(tx: Tx, { setAside }: ReaderTools, rows: NewDisagreement[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .transaction(savepoint => insertDisagreements(savepoint, rows))
    .catch(err => {
      if (!isInvalidRowError(err) && !isLockTimeout(err)) throw err
      setAside('disagreements', 'disagreements were set aside', { err, count: rows.length })
    })
}
