import { type Env, readInteger } from '../../../shared/process/env.ts'

/** After how many days rows of a kind are deleted. */
export type RetentionSettings = {
  deliveries: number
  events: number
  /** of transitions: after this only their summary is left */
  explanations: number
  /** and maintenance, which is part of the same history */
  transitions: number
  incidents: number
  /** monitors and organizations that were deleted */
  deleted: number
  /** probes that have not connected for so long */
  probes: number
}

/** No limit below what needs the rows: status pages show 90 days, the relay tries for one, probes may be away for some. */
export function readRetentionSettings(env: Env): RetentionSettings {
  const days = (name: string, fallback: number, min: number) =>
    readInteger(env, `RETENTION_${name}_DAYS`, fallback, min, 36_500)
  return {
    deliveries: days('DELIVERIES', 30, 2),
    events: days('EVENTS', 90, 2),
    explanations: days('EXPLANATIONS', 400, 2),
    transitions: days('TRANSITIONS', 800, 92),
    incidents: days('INCIDENTS', 800, 92),
    deleted: days('DELETED', 30, 7),
    probes: days('PROBES', 180, 30),
  }
}
