import { type Env, readInteger } from '../../../shared/process/env.ts'

/** The number of days after which rows are deleted. */
export type RetentionSettings = {
  deliveries: number
  events: number
  /** explanations of transitions; their summary stays */
  explanations: number
  /** also maintenance periods, which are part of the same history */
  transitions: number
  incidents: number
  /** deleted monitors and organizations */
  deleted: number
  /** probes since they were last seen */
  probes: number
}

/** Each minimum is what other features need: status pages show 90 days, the relay tries for one day, probes may be offline for days. */
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
