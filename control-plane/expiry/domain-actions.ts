import type { Db } from '../platform/postgres.ts'
import { type DueDomain, storeFailure, storeRegistration, tellWatches } from './domain-store.ts'
import { nextLookAfter } from './pace.ts'
import { identityOf } from './registration.ts'
import { lookUpDomain, type Registries } from './registry-reader.ts'

/**
 * Looks a claimed domain up and tells all monitors below it. What fails is tried again later and later, and says
 * nothing about any monitor. `jitterMs` spreads the next looks.
 */
export async function refreshDomain(
  db: Db,
  domain: DueDomain,
  registries: Registries,
  jitterMs: (ms: number) => number,
  clock: () => Date,
): Promise<'found' | 'not_told' | 'failed'> {
  const outcome = await lookUpDomain(domain.name, registries)
  const now = clock()
  const failures = outcome.expiresAt === null && !outcome.isSilent ? domain.failures + 1 : 0
  const nextLookAt = nextLookAfter(failures, now, jitterMs)
  if (outcome.expiresAt === null) {
    await storeFailure(db, domain.name, { error: outcome.error, failures, nextLookAt }, now)
    return outcome.isSilent ? 'not_told' : 'failed'
  }
  const { identity, expiresAt } = domain
  const known = identity !== null && expiresAt !== null ? { identity, expiresAt } : null
  const registration = { ...outcome, identity: identityOf(domain.name, known, outcome.expiresAt) }
  await storeRegistration(db, domain.name, registration, now)
  await db.transaction(tx => tellWatches(tx, domain.name, nextLookAt, now))
  return 'found'
}
