import { assertStillHasAccess } from '../../accounts/api-keys/actions.ts'
import { isDeadlock } from '../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../foundation/platform/time/clock.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import type { HeavyWrites } from '../../foundation/web/limits/heavy-writes.ts'
import type { ApiError } from '../../foundation/web/server/errors.ts'
import { applyChunk, type BulkChangeTools, type ItemOutcome, planChunk } from './chunk-actions.ts'
import type { ChangeTarget } from './request.ts'

/** Monitors of one transaction, which is shorter than 100 ms and so delays no verdict. */
const CHUNK_SIZE = 100
/** Chunks of one turn of the heavy writes: after each turn other projects come first. */
const CHUNKS_PER_TURN = 10
const MAX_ATTEMPTS = 3

type BulkTools = BulkChangeTools & {
  heavyWrites: HeavyWrites
  /** the error for a caller, of anything that was thrown; it also logs what is a fault */
  describeError: (thrown: unknown) => ApiError
}

/**
 * Changes monitors, or computes what would change, in chunks, as long as the caller has access. A chunk that fails leaves the ones before it applied, so after
 * the first applied chunk a failure is reported for each monitor that was not changed instead of being thrown: the caller
 * needs the results of the others, and what restores them.
 */
export async function changeMonitors(
  tools: BulkTools,
  caller: ApiCaller,
  targets: readonly ChangeTarget[],
  isDryRun: boolean,
  now: Date,
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = []
  const pause = createYieldPoint()
  const work = async () => {
    // the turns of a large change can take minutes
    if (!isDryRun) await assertStillHasAccess(tools.db, caller, 'write')
    for (let chunks = 0; chunks < CHUNKS_PER_TURN && outcomes.length < targets.length; chunks++) {
      const chunk = targets.slice(outcomes.length, outcomes.length + CHUNK_SIZE)
      outcomes.push(...(await (isDryRun ? planChunk : applyWithRetries)(tools, caller, chunk, now)))
      await pause()
    }
  }
  try {
    while (outcomes.length < targets.length) await tools.heavyWrites.run(caller.projectId, work)
  } catch (thrown) {
    const isApplied = !isDryRun && outcomes.some(({ difference }) => difference && difference.fields.length > 0)
    if (!isApplied) throw thrown
    const error = tools.describeError(thrown)
    const left = targets.slice(outcomes.length)
    outcomes.push(...left.map(({ monitorId }) => ({ monitorId, name: null, difference: null, error })))
  }
  return outcomes
}

async function applyWithRetries(...args: Parameters<typeof applyChunk>): Promise<ItemOutcome[]> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await applyChunk(...args)
    } catch (error) {
      if (!isDeadlock(error) || attempts === MAX_ATTEMPTS) throw error
    }
  }
}
