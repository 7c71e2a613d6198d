import type { CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import type { DeadlineSignal } from '../egress/deadline.ts'
import type { Egress } from '../egress/types.ts'
import type { Observation } from './result.ts'

export type { Assertion, Auth, CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
export type { Observation }

/** All types of monitors. */
export const MONITOR_TYPES = ['http', 'ping', 'tcp', 'dns', 'keyword', 'heartbeat'] as const
export type MonitorType = (typeof MONITOR_TYPES)[number]

/** The types that probes check. */
export const CHECK_TYPES = ['http', 'keyword', 'tcp', 'ping', 'dns'] as const satisfies readonly MonitorType[]
export type CheckType = (typeof CHECK_TYPES)[number]

/** The known regions, in the order of the API. */
export const REGIONS = ['us-east', 'us-west', 'eu-west', 'eu-central', 'ap-southeast', 'ap-northeast'] as const
export type Region = (typeof REGIONS)[number]
/** The names of the regions for people. */
export const REGION_NAMES: Readonly<Record<Region, string>> = {
  'us-east': 'US East',
  'us-west': 'US West',
  'eu-west': 'EU West',
  'eu-central': 'EU Central',
  'ap-southeast': 'AP Southeast',
  'ap-northeast': 'AP Northeast',
}

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const
export const KEYWORD_TYPES = ['contains', 'not_contains', 'regex'] as const

/** Maximum size of a response body that a check reads, in bytes after decompression. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Size of the body that is kept as evidence, and of a body that no assertion needs. */
export const SAMPLE_BYTES = 4096

/**
 * One check: examines a target once and returns an observation. Never throws for what the target does; an exception is a
 * fault of the probe and becomes an `internal` failure. `signal` is the only deadline of the check. `tenant`: the number of the
 * monitor's tenant at this probe, 0 for an unknown one.
 */
export type CheckFunction = (
  spec: CheckSpec,
  signal: DeadlineSignal,
  egress: Egress,
  tenant: number,
) => Promise<Observation>

export function isCheckType(type: string): type is CheckType {
  return (CHECK_TYPES as readonly string[]).includes(type)
}
