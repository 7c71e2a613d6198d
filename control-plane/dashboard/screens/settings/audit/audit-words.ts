/** The words of the audit log. Pure. */
import type { OperationResponse } from '../../../core/operations.ts'

export type AuditEntry = OperationResponse<'listAuditLog'>['data'][number]
type Action = AuditEntry['action']

/** What an actor did, before the record: `changed the monitor Shop`. */
export const ACTION_NAMES: Record<Action, string> = {
  created: 'created',
  updated: 'changed',
  deleted: 'deleted',
  signed_in: 'signed in',
  signed_out: 'signed out',
  password_changed: 'changed the password',
  claim_link_made: 'created a claim link for',
  replayed: 'sent again',
  rotated: 'rotated the secret of',
}

/** Kinds of records that the list can be filtered by. */
export const RESOURCES = [
  ...['monitor', 'alert_channel', 'alert_rule', 'alert_subscription', 'alert_settings', 'silence', 'delivery'],
  ...['incident', 'incident_update', 'maintenance_window', 'status_page', 'status_page_component'],
  ...['status_page_group', 'subscriber', 'data_source', 'data_source_field', 'dependency', 'chat_installation'],
  ...['chat_identity', 'view', 'wall_link', 'api_key', 'member', 'user', 'organization', 'project'],
] as const

/** `alert_channel` as words: `alert channel`. */
export const nameResource = (resource: string): string => resource.replaceAll('_', ' ').replace(/\bapi\b/, 'API')

const PATHS: Record<string, string> = {
  monitor: '/monitors',
  incident: '/incidents',
  alert_channel: '/settings/channels',
  delivery: '/log',
}

/** The page of the record of an entry; null when it has none, or is deleted. */
export function buildRecordPath({
  action,
  resource,
  resource_id: id,
}: Pick<AuditEntry, 'action' | 'resource' | 'resource_id'>): string | null {
  const path = PATHS[resource]
  return path === undefined || id === null || action === 'deleted' ? null : `${path}/${id}`
}

/** A value of a field as text: `not set` for nothing, lists on one line, other objects as JSON. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return String(value)
  const isFlat = Array.isArray(value) && value.every(one => typeof one !== 'object')
  if (Array.isArray(value) && value.length === 0) return 'none'
  return isFlat ? (value as unknown[]).join(', ') : JSON.stringify(value, null, 2)
}

/** The filters of the address. Days are in UTC; one that is not a day is left out. */
export type AuditFilter = {
  actor_id?: string
  resource?: string
  resource_id?: string
  action?: Action
  from?: string
  to?: string
}

const DAY_MS = 86_400_000
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))

export function parseAuditFilter(search: URLSearchParams): AuditFilter {
  const get = (name: string) => search.get(name) || undefined
  const day = (name: string) => [get(name)].find(text => text !== undefined && isDay(text))
  const action = (Object.keys(ACTION_NAMES) as Action[]).find(one => one === get('action'))
  const all = { actor_id: get('actor_id'), resource: get('resource'), resource_id: get('resource_id'), action }
  const filter = { ...all, from: day('from'), to: day('to') }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** The query of the API for a filter: `to` includes its day. */
export const toAuditQuery = ({ from, to, ...filter }: AuditFilter) => ({
  ...filter,
  ...(from !== undefined && { from: `${from}T00:00:00Z` }),
  ...(to !== undefined && { to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString() }),
})
