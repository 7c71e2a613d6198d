/** Filters and orders of the list of monitors (docs/design/monitors.md#lists). Pure. */
import { type Static, Type } from 'typebox'
import { MONITOR_TYPES, type MonitorType, REGIONS } from '../../../../shared/checks/check.ts'
import { parseListFilter } from '../../../foundation/web/validation/list-filter.ts'
import { pageProperties, strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_STATUSES, type MonitorStatus } from '../types.ts'

export const MONITOR_SORTS = ['created', 'name', 'status', 'changed', 'expires'] as const
export type MonitorSort = (typeof MONITOR_SORTS)[number]

const MAX_TAGS = 10
const buildTags = (description: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: MAX_TAGS })], { description }),
  )

const filterProperties = {
  type: Type.Optional(stringEnum(MONITOR_TYPES)),
  status: Type.Optional(Type.String({ description: 'One or more of up, down and degraded, separated by commas.' })),
  paused: Type.Optional(Type.Boolean({ description: 'Whether the monitor is paused.' })),
  pending: Type.Optional(Type.Boolean({ description: 'Whether the monitor has no status although it is not paused.' })),
  region: Type.Optional(
    Type.String({ description: 'Monitors with one of these regions. One or more, separated by commas.' }),
  ),
  tag: buildTags(
    `Monitors with exactly this tag. The parameter can be repeated, at most ${MAX_TAGS} times: monitors with all of these tags.`,
  ),
  not_tag: buildTags(`Monitors without this tag. The parameter can be repeated: monitors with none of these tags.`),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Monitors whose name or url contains this text.' })),
  alerted: Type.Optional(
    Type.Boolean({
      description:
        'Whether an outage of the monitor is sent to a channel that is not paused: by an alert rule with `on_down`, or by a subscription of the project to incidents.',
    }),
  ),
}

export const MonitorQuery = strictObject({
  ...pageProperties,
  sort: Type.Optional({
    ...stringEnum(MONITOR_SORTS, { default: 'created' }),
    description:
      'created: newest first. name: A to Z. status: down, degraded, without a status, up, paused; in each the last change first. changed: the last change of status first. expires: the certificate or domain that ends first.',
  }),
  ...filterProperties,
  issue: Type.Optional(Type.Boolean({ description: 'Whether the monitor has `configuration_issues`.' })),
})

/** The filters of `MonitorQuery` that need the row of a monitor only, for bodies. */
export const MonitorSelection = strictObject(filterProperties)

/** A condition is null (a list of tags: empty) when every monitor fulfils it. */
export type MonitorFilter = {
  type: MonitorType | null
  statuses: MonitorStatus[] | null
  isPaused: boolean | null
  isPending: boolean | null
  /** the monitor has at least one of them */
  regions: string[] | null
  /** the monitor has all of them */
  tags: string[]
  /** the monitor has none of them */
  withoutTags: string[]
  /** part of the name or the url, in any case */
  text: string | null
  /** an outage is sent to a channel that is not paused */
  isAlerted: boolean | null
  /** whether the id of the monitor is one of these */
  among: { ids: string[]; isIncluded: boolean } | null
}

export const ALL_MONITORS: MonitorFilter = {
  type: null,
  statuses: null,
  isPaused: null,
  isPending: null,
  regions: null,
  tags: [],
  withoutTags: [],
  text: null,
  isAlerted: null,
  among: null,
}

/** The filter of a query, without `issue`, which needs more than the row of a monitor. Throws 400 for unknown values. */
export function parseMonitorFilter(query: Static<typeof MonitorSelection>): MonitorFilter {
  return {
    ...ALL_MONITORS,
    type: query.type ?? null,
    statuses: parseListFilter('status', query.status, MONITOR_STATUSES),
    isPaused: query.paused ?? null,
    isPending: query.pending ?? null,
    regions: parseListFilter('region', query.region, REGIONS),
    tags: [query.tag ?? []].flat(),
    withoutTags: [query.not_tag ?? []].flat(),
    text: query.q ?? null,
    isAlerted: query.alerted ?? null,
  }
}
