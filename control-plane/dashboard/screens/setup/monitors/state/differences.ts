import { formatDuration } from '../../../../core/format.ts'
import {
  type AuthBody,
  FIELDS_OF_TYPE,
  isSame,
  type MonitorBodyFields,
  type MonitorField,
  pick,
  toMonitorFields,
  type UpdateBody,
} from './monitor-body.ts'
import type { MonitorForm } from './monitor-form.ts'
import { applyProposals } from './proposals.ts'

/** Fields that an update does not accept. Credentials have an operation of their own; the others are fixed. */
const FIXED_FIELDS: readonly MonitorField[] = ['heartbeat_interval', 'heartbeat_grace', 'screenshot_threshold']
const CREDENTIALS: readonly MonitorField[] = ['auth_type', 'auth_config']

const toFields = (form: MonitorForm) => toMonitorFields(applyProposals(form, null))

/** The fields in which two forms differ, in the order of the form. */
export function listChangedFields(before: MonitorForm, after: MonitorForm): MonitorField[] {
  const [a, b] = [toFields(before), toFields(after)]
  const names = new Set([...FIELDS_OF_TYPE[after.type], ...(Object.keys(LABELS) as MonitorField[])])
  return [...names].filter(name => !isSame(normalize(name, a), normalize(name, b)))
}

/** The order of regions and tags says nothing. */
const normalize = (name: MonitorField, fields: MonitorBodyFields): unknown =>
  name === 'regions' || name === 'tags' ? [...(fields[name] ?? [])].sort() : fields[name]

/** The fields that a person changed. Credentials mean something only as a pair: both count when one was changed. */
function listOwnFields(before: MonitorForm, mine: MonitorForm): MonitorField[] {
  const changed = listChangedFields(before, mine)
  return changed.some(name => CREDENTIALS.includes(name)) ? [...changed, ...CREDENTIALS] : changed
}

/** What has to be sent to save a form. Null: nothing of that operation changed. */
export function toSavedBodies(
  before: MonitorForm,
  after: MonitorForm,
): { update: UpdateBody | null; auth: AuthBody | null } {
  const changed = listChangedFields(before, after)
  const fields = toFields(after)
  const updated = changed.filter(name => !FIXED_FIELDS.includes(name) && !CREDENTIALS.includes(name))
  return {
    update: updated.length === 0 ? null : (pick(fields, updated) as UpdateBody),
    auth: changed.some(name => CREDENTIALS.includes(name))
      ? { auth_type: fields.auth_type, auth_config: fields.auth_config }
      : null,
  }
}

/** A field that two people changed, or that the other one changed. */
export type Difference = {
  field: MonitorField
  label: string
  /** when the form was opened, what is stored now, and what the form would store; as texts */
  before: string
  theirs: string
  mine: string
  /** both changed it, to different values */
  isConflict: boolean
}

/** What another person changed since the form was opened, next to what the form says. Empty: no setting was changed. */
export function listDifferences(before: MonitorForm, theirs: MonitorForm, mine: MonitorForm): Difference[] {
  const own = listOwnFields(before, mine)
  const [a, b, c] = [toFields(before), toFields(theirs), toFields(mine)]
  return listChangedFields(before, theirs).map(field => ({
    field,
    label: LABELS[field],
    before: formatField(field, a),
    theirs: formatField(field, b),
    mine: own.includes(field) ? formatField(field, c) : formatField(field, b),
    isConflict: own.includes(field) && !isSame(normalize(field, b), normalize(field, c)),
  }))
}

/** The form on the settings that are stored now: own changes stay, everything else is theirs. */
export function moveToCurrent(before: MonitorForm, theirs: MonitorForm, mine: MonitorForm): MonitorForm {
  const own = listOwnFields(before, mine)
  return { ...theirs, ...Object.fromEntries(own.map(field => [field, mine[field]])) }
}

/** The names of the fields for people. */
export const LABELS: Record<MonitorField, string> = {
  type: 'Type',
  url: 'Address',
  name: 'Name',
  interval_seconds: 'Interval',
  regions: 'Regions',
  keyword: 'Keyword',
  keyword_type: 'Keyword condition',
  assertions: 'Assertions',
  method: 'Method',
  headers: 'Headers',
  body: 'Body',
  auth_type: 'Authentication',
  auth_config: 'Credentials',
  timeout_ms: 'Timeout',
  retry_count: 'Re-checks',
  ssl_check: 'Certificate warnings',
  domain_check: 'Domain warnings',
  screenshot_on_failure: 'Screenshot of failures',
  screenshot_compare: 'Comparison with a baseline',
  screenshot_threshold: 'Threshold of the comparison',
  witness: 'Witness',
  witness_with_credentials: 'Witness with credentials',
  tags: 'Tags',
  heartbeat_interval: 'Ping interval',
  heartbeat_grace: 'Grace period',
}

function formatField(field: MonitorField, fields: MonitorBodyFields): string {
  const value = fields[field]
  if (value === null || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  switch (field) {
    case 'interval_seconds':
    case 'heartbeat_interval':
    case 'heartbeat_grace':
      return formatDuration(Number(value) * 1_000)
    case 'timeout_ms':
      return `${value} ms`
    case 'assertions':
      return (fields.assertions ?? []).map(one => `${one.type} ${one.operator} ${one.value}`).join('; ')
    case 'headers':
      return Object.entries(fields.headers ?? {})
        .map(([name, text]) => `${name}: ${text}`)
        .join('; ')
    case 'auth_config':
      return 'set'
    default:
      return Array.isArray(value) ? value.join(', ') : String(value)
  }
}
