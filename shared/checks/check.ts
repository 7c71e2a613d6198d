import type { CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import type { DeadlineSignal } from '../egress/deadline.ts'
import type { Egress } from '../egress/types.ts'
import type { Observation } from './result.ts'

export type { Assertion, Auth, CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
export type { Observation }

/** Every type a monitor may have (specification, "Monitor"). */
export const MONITOR_TYPES = ['http', 'ping', 'tcp', 'dns', 'keyword', 'heartbeat'] as const
export type MonitorType = (typeof MONITOR_TYPES)[number]

/** The types that probes run today. A monitor of another type is stored and waits (decisions 3.2). */
export const CHECK_TYPES = ['http', 'keyword', 'tcp', 'ping', 'dns'] as const satisfies readonly MonitorType[]
export type CheckType = (typeof CHECK_TYPES)[number]

/** The regions of the specification, in its order. */
export const REGIONS = ['us-east', 'us-west', 'eu-west', 'eu-central', 'ap-southeast', 'ap-northeast'] as const
export type Region = (typeof REGIONS)[number]

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const
export const KEYWORD_TYPES = ['contains', 'not_contains', 'regex'] as const

/** Most of a response's body that a check reads, in bytes after decompression. */
export const MAX_BODY_BYTES = 1024 * 1024

/** How much of a body is kept as evidence, and of one that no check looks at. */
export const SAMPLE_BYTES = 4096

/**
 * One check: looks at a target once and says what it saw. Never throws for what the target does; a throw is our own
 * fault and becomes an `internal` failure. `signal` is the check's one deadline.
 */
export type CheckFunction = (spec: CheckSpec, signal: DeadlineSignal, egress: Egress) => Promise<Observation>

export function isCheckType(type: string): type is CheckType {
  return (CHECK_TYPES as readonly string[]).includes(type)
}
