import { groupBy } from '../../shared/group-by.ts'
import {
  type Result as CheckResult,
  FailureSource,
  NO_DETAILS,
  Outcome,
  ResultBatch,
  Trigger,
} from '../../shared/result.ts'
import { DATA_SOURCE_REGION } from '../monitors/types.ts'
import type { LivingChild } from './children-store.ts'
import type { Fetch } from './fetch.ts'
import { errorOf, OUTCOMES } from './outlook.ts'
import { placeOf } from './reconcile.ts'

/** Results in one message: some 350 kB at most, below what NATS takes. */
const RESULTS_A_MESSAGE = 500

/** What fetches say of the monitors that live, as the recorder of the history takes it: a check of each monitor. */
export function historyOf(fetches: readonly Fetch[], living: readonly LivingChild[]): Uint8Array[] {
  const childrenOf = groupBy(living, ({ sourceId }) => sourceId)
  const results = fetches.flatMap(fetch => resultsOf(fetch, childrenOf.get(fetch.source.id) ?? []))
  const messages: Uint8Array[] = []
  for (let from = 0; from < results.length; from += RESULTS_A_MESSAGE) {
    const some = results.slice(from, from + RESULTS_A_MESSAGE)
    messages.push(ResultBatch.encode({ probeId: '', region: DATA_SOURCE_REGION, results: some }).finish())
  }
  return messages
}

function resultsOf({ result, startedAt, responseTimeMs }: Fetch, living: readonly LivingChild[]): CheckResult[] {
  const found = new Map('failure' in result ? [] : result.children.map(child => [placeOf(child), child]))
  return living.map(child => {
    const said = found.get(placeOf(child))
    return {
      monitorId: child.monitorId,
      configVersion: child.configVersion,
      epoch: 1,
      scheduledAtMs: startedAt.getTime(),
      startedAtMs: startedAt.getTime(),
      attempt: 1,
      outcome: said ? OUTCOMES[said.outcome] : Outcome.UNKNOWN,
      trigger: Trigger.SLOT,
      runId: '',
      totalUs: Math.round(responseTimeMs * 1_000),
      timings: undefined,
      statusCode: 0,
      error: (said ? errorOf(said) : errorOfAbsent(result, child.key)) ?? undefined,
      failedAssertions: [],
      resolvedIp: '',
      ...NO_DETAILS,
    }
  })
}

function errorOfAbsent(result: Fetch['result'], key: string) {
  if (!('failure' in result)) {
    return { source: FailureSource.TARGET, code: 'missing', message: `the key ${key} is missing in the document` }
  }
  const { code, message, isOurFault } = result.failure
  return { source: isOurFault ? FailureSource.INTERNAL : FailureSource.TARGET, code, message }
}
