import {
  type Result as CheckResult,
  FailureSource,
  NO_DETAILS,
  Outcome,
  ResultBatch,
  Trigger,
} from '../../../../shared/checks/result.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { DATA_SOURCE_REGION } from '../../../monitoring/monitors/types.ts'
import { formatChildKey } from '../evaluation/evaluate.ts'
import type { SourceFetch } from '../fetching/fetch-result.ts'
import { OUTCOMES, toCheckError } from './child-decision.ts'
import type { ActiveChild } from './child-store.ts'

/** Results in one message: about 350 kB at most, below the limit of NATS. */
const MAX_RESULTS_PER_MESSAGE = 500

/** Builds messages for the recorder of the history, with one check for each active monitor and fetch. */
export function buildHistoryMessages(fetches: readonly SourceFetch[], active: readonly ActiveChild[]): Uint8Array[] {
  const childrenBySource = groupBy(active, ({ sourceId }) => sourceId)
  const results = fetches.flatMap(fetch => buildResults(fetch, childrenBySource.get(fetch.source.id) ?? []))
  const messages: Uint8Array[] = []
  for (let from = 0; from < results.length; from += MAX_RESULTS_PER_MESSAGE) {
    const some = results.slice(from, from + MAX_RESULTS_PER_MESSAGE)
    messages.push(ResultBatch.encode({ probeId: '', region: DATA_SOURCE_REGION, results: some }).finish())
  }
  return messages
}

function buildResults(
  { result, startedAt, responseTimeMs }: SourceFetch,
  active: readonly ActiveChild[],
): CheckResult[] {
  const found = new Map('failure' in result ? [] : result.children.map(child => [formatChildKey(child), child]))
  return active.map(child => {
    const evaluated = found.get(formatChildKey(child))
    return {
      monitorId: child.monitorId,
      configVersion: child.configVersion,
      epoch: 1,
      scheduledAtMs: startedAt.getTime(),
      startedAtMs: startedAt.getTime(),
      attempt: 1,
      outcome: evaluated ? OUTCOMES[evaluated.outcome] : Outcome.UNKNOWN,
      trigger: Trigger.SLOT,
      runId: '',
      totalUs: Math.round(responseTimeMs * 1_000),
      timings: undefined,
      statusCode: 0,
      error: (evaluated ? toCheckError(evaluated) : buildMissingError(result, child.key)) ?? undefined,
      failedAssertions: [],
      resolvedIp: '',
      ...NO_DETAILS,
    }
  })
}

function buildMissingError(result: SourceFetch['result'], key: string) {
  if (!('failure' in result)) {
    return { source: FailureSource.TARGET, code: 'missing', message: `the key ${key} is missing in the document` }
  }
  const { code, message, isOurFault } = result.failure
  return { source: isOurFault ? FailureSource.INTERNAL : FailureSource.TARGET, code, message }
}
