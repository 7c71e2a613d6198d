import {
  isInvalidRowError,
  isLockTimeout,
  isTenantError,
  type Tx,
} from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { insertDisagreements } from '../../../monitoring/fleet/probes/drain-store.ts'
import type { NewDisagreement } from '../../../monitoring/fleet/probes/outlier.ts'
import type { VerdictChange } from '../../core/decision-actions.ts'
import type { BatchEffects } from '../counting/batch-effects.ts'
import { markNotStored, type ObservedCertificate } from '../counting/certificates.ts'
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
import { type ApplyOutcome, applyPerProject, applyUnlocked } from './apply-actions.ts'
import { recordDeferred, splitByDeferral } from './deferred-actions.ts'
import { insertDeferredChanges } from './deferred-store.ts'
import { publishHints } from './hint-actions.ts'
import { withoutDiscarded } from './hints.ts'

/** How long the other tenants of a partition wait for the locked rows of one tenant, once. */
const LOCK_TIMEOUT_MS = 500

/**
 * Stores and publishes the effects of a run of results (docs/design/results.md#commit):
 *
 * 1. Store new certificates, so that the position never passes one that is not stored.
 * 2. Add changes that have waited in memory for long enough.
 * 3. Apply all changes and move the position in one transaction. Without changes, nothing is written.
 * 4. Publish hints to the probes, without the states that were discarded.
 * 5. Update the metrics.
 */
export async function commitEffects(reading: PartitionReading, effects: BatchEffects): Promise<void> {
  const { tools } = reading
  if (effects.certificates.size > 0) await storeNewCertificates(reading, [...effects.certificates.values()])
  addWaitingChanges(reading, effects)
  const discarded = new Set(effects.changes.size > 0 ? await storeChanges(reading, effects) : [])
  publishHints(tools.nats, withoutDiscarded(effects, discarded))
  const witnesses = effects.asks.filter(({ ask }) => ask.witness).length
  if (witnesses > 0) tools.metrics.witnesses.inc(witnesses)
  tools.metrics.unstored.set({ partition: reading.partition.id }, reading.unstored.size)
  recordEffects(tools.metrics, effects)
  tools.metrics.disagreements.inc(effects.disagreements.length)
}

/**
 * Certificates of monitors whose rows are locked are recorded again with their next result. One that PostgreSQL rejects is
 * set aside; the others are stored.
 */
async function storeNewCertificates(reading: PartitionReading, seen: ObservedCertificate[]): Promise<void> {
  const { storeCertificates, setAside } = reading.tools
  const { locked, rejected } = await retryUntilDone(reading, () => storeCertificates(seen))
  for (const { certificate, error } of rejected) {
    const { monitorId, region } = certificate
    setAside('certificates', 'set aside a certificate that cannot be stored', { err: error, monitorId, region })
  }
  const ids = new Set(locked)
  markNotStored(
    reading.certificates,
    seen.filter(({ monitorId }) => ids.has(monitorId)),
  )
}

/** Returns the monitors whose changes were discarded. */
async function storeChanges(reading: PartitionReading, effects: BatchEffects): Promise<readonly string[]> {
  const { tools, memory } = reading
  const changes = [...effects.changes.values()].map(change => ({
    ...change,
    state: memory.get(change.monitorId)!.state,
  }))
  const startedMs = monotonicMs()
  const outcome = await retryUntilDone(reading, () => applyInTransaction(reading, changes, effects.disagreements))
  tools.metrics.applySeconds.observe((monotonicMs() - startedMs) / 1_000)
  markSaved(reading)
  recordDeferred(reading, outcome, effects.statesBefore)
  const { discarded } = outcome
  markCommitted(reading, effects, discarded)
  recordTransitions(tools.metrics, changes, new Set([...discarded, ...outcome.deferred.map(one => one.monitorId)]))
  tools.metrics.discarded.inc(discarded.length)
  if (discarded.length === 0) return discarded
  const versions = new Map(discarded.map(id => [id, 0]))
  await retryUntilDone(reading, () => reloadMonitors(reading, versions, { isDiscarded: false }))
  return discarded
}

/**
 * Stores a run of changes in one transaction (docs/design/results.md#commit):
 *
 * 1. Split the changes: those of monitors or projects with deferred changes have to wait behind them.
 * 2. Move the stored position, fenced by the partition's epoch and the old position. It also renews the lease, and sets
 *    the lock timeout of the transaction.
 * 3. Store disagreements between probes under a savepoint.
 * 4. Apply the changes of monitors whose rows are free, with everything that follows from them (`applyDecisions`).
 * 5. Store the other changes as deferred changes.
 *
 * After an error of one tenant's rows or a lock timeout, the whole transaction is repeated, with each project under its
 * own savepoint.
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

/** Disagreements are for the operator only, so an error of the database does not delay a verdict. */
async function storeDisagreements(tx: Tx, { setAside }: ReaderTools, rows: NewDisagreement[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .transaction(savepoint => insertDisagreements(savepoint, rows))
    .catch(err => {
      if (!isInvalidRowError(err) && !isLockTimeout(err)) throw err
      setAside('disagreements', 'set aside disagreements that cannot be stored', { err, count: rows.length })
    })
}
