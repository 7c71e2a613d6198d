import { Type } from 'typebox'
import { NO_DETAILS, Outcome, type Result, Trigger } from '../../../shared/checks/result.ts'
import { nullable, stringEnum } from '../../foundation/web/validation/schemas.ts'
import { toCheckResultResponse } from '../../monitoring/fleet/on-demand/check-result.ts'
import { HEARTBEAT_REGION } from '../../monitoring/monitors/types.ts'
import { toPingError } from './observation.ts'
import type { Ping } from './types.ts'

const KINDS = ['success', 'start', 'fail', 'log', 'overdue'] as const satisfies readonly Ping['kind'][]

/** The additional fields of a check of a heartbeat monitor. */
export const HeartbeatDetail = Type.Object({
  kind: stringEnum(KINDS),
  exit_code: nullable(Type.Integer()),
  body: nullable(Type.String({ description: 'The first 10 kB of what the job sent.' })),
})

const OUTCOMES = {
  success: Outcome.UP,
  fail: Outcome.DOWN,
  overdue: Outcome.DOWN,
  start: Outcome.UNKNOWN,
  log: Outcome.UNKNOWN,
} as const

const STATUSES = { [Outcome.UP]: 'up', [Outcome.DOWN]: 'down', [Outcome.UNKNOWN]: 'unknown' } as const

type PingKindFilter = { regions: readonly string[] | null; statuses: readonly string[] | null }

/** The kinds of ping that match the filters of a list of checks. A start and a log have the status `unknown`. */
export function selectPingKinds({ regions, statuses }: PingKindFilter): Ping['kind'][] {
  if (regions !== null && !regions.includes(HEARTBEAT_REGION)) return []
  return KINDS.filter(kind => statuses === null || statuses.includes(STATUSES[OUTCOMES[kind]]))
}

/** A ping in the form of a check. It has no probe, and its response time is the length of the run. */
export function toPingResponse(ping: Ping) {
  const atMs = ping.at.getTime()
  const result: Result = {
    monitorId: ping.monitorId,
    configVersion: 0,
    epoch: ping.number,
    scheduledAtMs: atMs,
    startedAtMs: atMs,
    attempt: 1,
    outcome: OUTCOMES[ping.kind],
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: (ping.runMs ?? 0) * 1_000,
    timings: undefined,
    statusCode: 0,
    error: toPingError(ping) ?? undefined,
    failedAssertions: [],
    resolvedIp: '',
    ...NO_DETAILS,
  }
  return {
    ...toCheckResultResponse(result, HEARTBEAT_REGION, ''),
    probe_id: null,
    heartbeat: { kind: ping.kind, exit_code: ping.exitCode, body: ping.body },
  }
}
