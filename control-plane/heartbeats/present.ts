import { Type } from 'typebox'
import { NO_DETAILS, Outcome, type Result, Trigger } from '../../shared/result.ts'
import { presentResult } from '../fleet/check-result.ts'
import { HEARTBEAT_REGION } from '../monitors/types.ts'
import { enumOf, nullable } from '../web/schemas.ts'
import { errorOf } from './observation.ts'
import type { Ping } from './types.ts'

const KINDS = ['success', 'start', 'fail', 'log', 'overdue'] as const satisfies readonly Ping['kind'][]

/** What a check of a heartbeat monitor has beside the fields of every check. */
export const HeartbeatDetail = Type.Object({
  kind: enumOf(KINDS),
  exit_code: nullable(Type.Integer()),
  body: nullable(Type.String({ description: 'what the job sent, its first 10 kB' })),
})

const OUTCOMES = {
  success: Outcome.UP,
  fail: Outcome.DOWN,
  overdue: Outcome.DOWN,
  start: Outcome.UNKNOWN,
  log: Outcome.UNKNOWN,
} as const

const STATUSES = { [Outcome.UP]: 'up', [Outcome.DOWN]: 'down', [Outcome.UNKNOWN]: 'unknown' } as const

type Wanted = { regions: readonly string[] | null; statuses: readonly string[] | null }

/** The kinds of ping that a list of checks asks for; null: all. A start and a log say nothing of how a job does. */
export function kindsOf({ regions, statuses }: Wanted): Ping['kind'][] {
  if (regions !== null && !regions.includes(HEARTBEAT_REGION)) return []
  return KINDS.filter(kind => statuses === null || statuses.includes(STATUSES[OUTCOMES[kind]]))
}

/** A ping in the shape of a check (decisions 3.6): no probe saw it, and its response time is the length of the run. */
export function presentPing(ping: Ping) {
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
    error: errorOf(ping) ?? undefined,
    failedAssertions: [],
    resolvedIp: '',
    ...NO_DETAILS,
  }
  return {
    ...presentResult(result, HEARTBEAT_REGION, ''),
    probe_id: null,
    heartbeat: { kind: ping.kind, exit_code: ping.exitCode, body: ping.body },
  }
}
