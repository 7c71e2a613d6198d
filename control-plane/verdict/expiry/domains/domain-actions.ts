import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type DueDomain, storeLookupFailure, storeRegistration, updateWatches } from './domain-store.ts'
import { buildRegistrationIdentity, computeNextLookup } from './registration.ts'
import { lookUpDomain, type Registries } from './registry-reader.ts'

/**
 * Looks up a claimed domain and updates all monitors that use it. A failure is retried with growing pauses and does not
 * affect any monitor. `jitterMs` spreads the look-ups.
 */
export async function refreshDomain(
  db: Db,
  domain: DueDomain,
  registries: Registries,
  jitterMs: (ms: number) => number,
  clock: () => Date,
): Promise<'found' | 'no_date' | 'failed'> {
  const outcome = await lookUpDomain(domain.name, registries)
  const now = clock()
  const failures = outcome.expiresAt === null && !outcome.isSilent ? domain.failures + 1 : 0
  const nextLookAt = computeNextLookup(failures, now, jitterMs)
  if (outcome.expiresAt === null) {
    await storeLookupFailure(db, domain.name, { error: outcome.error, failures, nextLookAt }, now)
    return outcome.isSilent ? 'no_date' : 'failed'
  }
  const { identity, expiresAt } = domain
  const known = identity !== null && expiresAt !== null ? { identity, expiresAt } : null
  const registration = { ...outcome, identity: buildRegistrationIdentity(domain.name, known, outcome.expiresAt) }
  await storeRegistration(db, domain.name, registration, now)
  await db.transaction(tx => updateWatches(tx, domain.name, nextLookAt, now))
  return 'found'
}
