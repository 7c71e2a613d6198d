import t from 'tap'
import { buildCancelledResult, buildResult } from '../../../probe-agent/execution/result-builder.ts'
import type { CheckExecution } from '../../../probe-agent/execution/run-check.ts'
import { Result } from '../../../proto/gen/probe/v1/result.ts'
import { Outcome, Trigger } from '../../../shared/checks/result.ts'

t.test('A check of a process that was frozen for hours has a result that can be sent', async t => {
  const hours = 2 * 3_600_000_000
  const timings = { dnsUs: 3, connectUs: hours, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
  const observation = {
    totalUs: hours,
    timings,
    error: null,
    resolvedIp: null,
    statusCode: null,
    ping: null,
    dns: null,
  }
  const ran = { outcome: Outcome.UNKNOWN, observation, failedAssertions: [] } as unknown as CheckExecution
  const occasion = { scheduledAtMs: 1, attempt: 0, trigger: Trigger.SLOT, runId: '' }
  const result = buildResult({ monitorId: 'm', configVersion: 1, epoch: 1 }, occasion, 2, ran)
  const sent = Result.decode(Result.encode(result).finish())
  t.equal(sent.totalUs, 2 ** 32 - 1)
  t.match(sent.timings, { dnsUs: 3, connectUs: 2 ** 32 - 1 })
  const cancelled = buildCancelledResult(result, { attempt: 0, startedAtMs: 1, silentMs: hours / 1_000 })
  t.equal(Result.decode(Result.encode(cancelled).finish()).totalUs, 2 ** 32 - 1, 'also a cancelled attempt')
})
