/** Changes of many monitors in words. Pure. */
import { formatCount, formatDuration, formatMs, formatTime } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'

export type BulkResult = OperationResponse<'changeMonitors'>['data']
type BulkItem = BulkResult['items'][number]
type FieldChange = BulkItem['changes'][number]

const LABELS: Record<string, string> = {
  is_paused: 'Checks',
  interval_seconds: 'Interval',
  timeout_ms: 'Timeout',
  retry_count: 'Retries',
  regions: 'Regions',
  tags: 'Tags',
  silence: 'Silenced until',
}

/** `Interval: 1 min → 5 min`. `channels`: names by id. */
export function describeFieldChange(
  { field, from, to }: FieldChange,
  channels: ReadonlyMap<string, string> = new Map(),
  timeZone = 'UTC',
): string {
  if (field === 'deleted') return 'Deleted'
  if (field === 'alert_rules') {
    const name = (rule: { alert_channel_id: string }) => channels.get(rule.alert_channel_id) ?? rule.alert_channel_id
    const list = (rules: unknown) => (rules as { alert_channel_id: string }[]).map(name).join(', ')
    const parts = [list(to) && `alerts to ${list(to)}`, list(from) && `no alerts to ${list(from)}`]
    return parts.filter(Boolean).join('; ')
  }
  if (field === 'silence') return `${LABELS[field]}: ${formatEnd(from, timeZone)} → ${formatEnd(to, timeZone)}`
  return `${LABELS[field] ?? field}: ${formatValue(field, from)} → ${formatValue(field, to)}`
}

function formatEnd(value: unknown, timeZone: string): string {
  if (value === null) return 'not silenced'
  const { until } = value as { until: string }
  return formatTime(until, timeZone)
}

function formatValue(field: string, value: unknown): string {
  if (field === 'is_paused') return value === true ? 'paused' : 'active'
  if (field === 'interval_seconds') return formatDuration(Number(value) * 1_000)
  if (field === 'timeout_ms') return formatMs(Number(value))
  if (Array.isArray(value)) return value.join(', ') || 'none'
  return value === null ? 'none' : String(value)
}

/** `10 monitors change, 1 monitor stays as it is, 2 monitors are refused`; `isDone`: in the past. */
export function summarizeResult({ changed, unchanged, refused }: BulkResult, isDone: boolean): string {
  const verb = (count: number, one: string, many: string) => (count === 1 ? one : many)
  const parts = [
    `${formatCount(changed, 'monitor')} ${isDone ? 'changed' : verb(changed, 'changes', 'change')}`,
    unchanged > 0 &&
      `${formatCount(unchanged, 'monitor')} ${isDone ? 'stayed' : verb(unchanged, 'stays', 'stay')} as before`,
    refused > 0 &&
      `${formatCount(refused, 'monitor')} ${isDone ? verb(refused, 'was', 'were') : verb(refused, 'is', 'are')} refused`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Items in the order in which a person needs them: refused, changed, unchanged. */
export const orderItems = (items: readonly BulkItem[]): BulkItem[] =>
  (['refused', 'changed', 'unchanged'] as const).flatMap(result => items.filter(item => item.result === result))
