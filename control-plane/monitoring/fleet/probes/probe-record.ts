import { Type } from 'typebox'
import { REGION_NAMES, REGIONS } from '../../../../shared/checks/check.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import type { StoredProbeHealth } from '../sessions/messages.ts'

/** A row of `probes` with derived fields, at the database's time. */
export type StoredProbe = {
  id: string
  name: string
  region: string
  version: string
  capabilities: string[]
  /** from its newest heartbeat; rows that an older control plane wrote lack fields */
  health: Partial<StoredProbeHealth & { assignments: number }> | null
  created_at: Date
  connected_at: Date | null
  last_seen_at: Date
  is_live: boolean
  is_connected: boolean
  is_draining: boolean
  drain_reason: string | null
  /** null: it is not drained now */
  drained_until: Date | null
  is_revoked: boolean
}

export type StoredRegion = {
  region: string
  epoch: number
  monitors: number
  unassigned: number
  live_probes: number
  /** connected, but without work because they disagree often */
  drained_probes: number
  worst_loop_lag_ms: number | null
  /** null: there is a live probe, or the region was never used */
  no_live_probe_since: Date | null
  last_heartbeat_at: Date | null
  /** the database's time */
  read_at: Date
}

const Count = nullable(Type.Integer())
const Milliseconds = nullable(Type.Number())

/** A probe in the operator's API. Null: an older probe does not report the value, or no heartbeat has arrived yet. */
export const ProbeRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    region: stringEnum(REGIONS),
    version: Type.String(),
    capabilities: Type.Array(Type.String()),
    live: Type.Boolean({ description: 'Whether the probe is in the live set of its region and gets work.' }),
    connected_since: nullable(Timestamp),
    last_heartbeat_at: Timestamp,
    load: Type.Object({
      running: Count,
      limit: Count,
      waiting: Type.Unsafe<number | null>({
        ...Count,
        description: 'Checks that are due and wait because the limit is reached.',
      }),
      assignments: Type.Integer({ description: 'Number of monitors that the probe checks.' }),
      start_delay_ms: Milliseconds,
    }),
    loop_lag_ms: Milliseconds,
    spool: Type.Object({ results: Count, bytes: Count, dropped: Count }),
    clock_offset_ms: Type.Unsafe<number | null>({
      ...Milliseconds,
      description: 'How far the clock of the probe is ahead. Results use the time of the control plane.',
    }),
    connectivity_ok: nullable(Type.Boolean({ description: 'Result of the connectivity test of the probe.' })),
    draining: Type.Unsafe<string | null>({
      ...nullable(Type.String()),
      description: 'Why the probe gets no work: "stopping" or "disagrees often".',
    }),
    drained_until: nullable(Timestamp),
    revoked: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Probe' },
)

const FOR_OPERATOR = 'Only for keys of the operator project.'

/** A region for every key. Keys of the operator project also get its load. It has no name or address of a probe. */
export const RegionRecord = Type.Object(
  {
    region: stringEnum(REGIONS),
    name: Type.String({ description: 'The name for people, such as "US East".' }),
    is_live: Type.Boolean({ description: 'Whether the region has a live probe now.' }),
    live_probes: Type.Integer(),
    no_live_probe_since: Type.Unsafe<Date | string | null>({
      ...nullable(Timestamp),
      description: 'Null: there is a live probe, or the region was never used.',
    }),
    drained_probes: Type.Optional(
      Type.Integer({ description: `Connected probes without work because they disagree often. ${FOR_OPERATOR}` }),
    ),
    last_heartbeat_at: Type.Optional(nullable(Timestamp, { description: FOR_OPERATOR })),
    epoch: Type.Optional(Type.Integer({ description: `Epoch of the live set. ${FOR_OPERATOR}` })),
    monitors: Type.Optional(
      Type.Object(
        {
          assigned: Type.Integer(),
          unassigned: Type.Integer({ description: 'Monitors that no live probe of the region can check.' }),
        },
        { description: FOR_OPERATOR },
      ),
    ),
    worst_loop_lag_ms: Type.Optional(nullable(Type.Number(), { description: FOR_OPERATOR })),
  },
  { title: 'Region' },
)

export function toProbeResponse(row: StoredProbe): Type.Static<typeof ProbeRecord> {
  const health = row.health ?? {}
  const { running = null, limit = null, waiting = null, start_delay_ms = null } = health
  return {
    id: row.id,
    name: row.name,
    region: row.region as Type.Static<typeof ProbeRecord>['region'],
    version: row.version,
    capabilities: row.capabilities,
    live: row.is_live,
    connected_since: row.is_connected ? row.connected_at : null,
    last_heartbeat_at: row.last_seen_at,
    load: { running, limit, waiting, assignments: row.is_live ? (health.assignments ?? 0) : 0, start_delay_ms },
    loop_lag_ms: health.loop_lag_ms ?? null,
    spool: {
      results: health.spool_results ?? null,
      bytes: health.spool_bytes ?? null,
      dropped: health.dropped_results ?? null,
    },
    clock_offset_ms: health.clock_offset_ms ?? null,
    connectivity_ok: health.connectivity_ok ?? null,
    draining: row.drained_until ? row.drain_reason : row.is_draining ? 'stopping' : null,
    drained_until: row.drained_until,
    revoked: row.is_revoked,
    created_at: row.created_at,
    updated_at: row.last_seen_at,
  }
}

/** The region for a caller: its load concerns all projects, so only the operator gets it. */
export function toRegionResponse(
  { region, live_probes, no_live_probe_since, monitors, unassigned, read_at: _, ...load }: StoredRegion,
  { isOperator }: Pick<ApiCaller, 'isOperator'>,
): Type.Static<typeof RegionRecord> {
  const name = region as Type.Static<typeof RegionRecord>['region']
  return {
    region: name,
    name: REGION_NAMES[name],
    is_live: live_probes > 0,
    live_probes,
    no_live_probe_since,
    ...(isOperator && { ...load, monitors: { assigned: monitors - unassigned, unassigned } }),
  }
}
