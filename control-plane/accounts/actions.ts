import type { Tx } from '../platform/postgres.ts'
import { tierLimitReached } from '../web/errors.ts'
import { type Counted, overLimit } from './plans.ts'
import { lockUsage } from './store.ts'

/**
 * Throws 402 `tier_limit_reached` unless `adding` more fit into the organization's plan (decisions 2.5). Holds the
 * organization's row until the transaction ends; add in the same transaction.
 */
export async function assertWithinLimit(tx: Tx, organizationId: string, counted: Counted, adding: number) {
  const refusal = overLimit(await lockUsage(tx, organizationId, counted), adding)
  if (refusal !== null) throw tierLimitReached(refusal)
}
