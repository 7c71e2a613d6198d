/** What a change means for one monitor, and what restores the monitor. Pure. */
import { isDeepStrictEqual } from 'node:util'
import type { StoredRule } from '../../alerting/routing/rules/rule-store.ts'
import type { MonitorUpdate } from '../../monitoring/monitors/settings/schema.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import type { SilenceSettings } from '../silences/schemas.ts'
import type { ActiveSilence } from '../silences/store.ts'
import type { MonitorChange, RuleSettings } from './schema.ts'

type ChangedField = { field: string; from: unknown; to: unknown }

export type MonitorDifference = {
  /** the update of the monitor's own fields; empty when none of them changes */
  update: MonitorUpdate
  /** null: the monitor is neither paused nor resumed */
  isPaused: boolean | null
  isDeleted: boolean
  removedRules: StoredRule[]
  addedRules: RuleSettings[]
  /** the silence instead of those that the monitor is in, null: none; undefined: they stay */
  silence: SilenceSettings | null | undefined
  fields: ChangedField[]
  /** the change that restores the monitor; null when nothing can */
  restore: MonitorChange | null
}

const NUMBERS = {
  interval_seconds: 'intervalSeconds',
  timeout_ms: 'timeoutMs',
  retry_count: 'retryCount',
} as const satisfies Partial<Record<keyof MonitorChange, keyof StoredMonitor>>

/** Compares a monitor, its rules and the last of its silences with what a change wants. */
export function diffMonitor(
  stored: StoredMonitor,
  rules: readonly StoredRule[],
  active: ActiveSilence | null,
  change: MonitorChange,
): MonitorDifference {
  if (change.delete) return { ...UNCHANGED, isDeleted: true, fields: [{ field: 'deleted', from: false, to: true }] }
  const update: MonitorUpdate = {}
  const restore: MonitorChange = {}
  const fields: ChangedField[] = []
  const record = (field: string, from: unknown, to: unknown) => fields.push({ field, from, to })
  const isPaused = change.is_paused === stored.isPaused ? null : (change.is_paused ?? null)
  if (isPaused !== null) {
    restore.is_paused = stored.isPaused
    record('is_paused', stored.isPaused, isPaused)
  }
  for (const [name, property] of Object.entries(NUMBERS) as [keyof typeof NUMBERS, (typeof NUMBERS)['timeout_ms']][]) {
    const [before, after] = [stored[property], change[name]]
    if (after === undefined || after === before) continue
    update[name] = after
    restore[name] = before
    record(name, before, after)
  }
  const regions = change.regions && editList(stored.regions, change.regions)
  if (regions && !isDeepStrictEqual(regions, stored.regions)) {
    update.regions = regions
    restore.regions = { set: stored.regions }
    record('regions', stored.regions, regions)
  }
  const tags = change.tags && editList(stored.tags, change.tags)
  if (tags !== undefined && !isDeepStrictEqual(tags, stored.tags)) {
    update.tags = tags
    restore.tags = { set: stored.tags }
    record('tags', stored.tags, tags)
  }
  const { removed: removedRules, added: addedRules } = editRules(rules, change.alert_rules ?? {})
  if (removedRules.length + addedRules.length > 0) {
    const from = removedRules.map(toRuleSettings)
    restore.alert_rules = { remove: addedRules.map(rule => rule.alert_channel_id), add: from }
    record('alert_rules', from, addedRules)
  }
  const before = active && { until: active.until.toISOString(), reason: active.reason }
  const silence = editSilence(before, change.silence)
  if (silence !== undefined) {
    restore.silence = before
    record('silence', before, silence)
  }
  return { update, isPaused, isDeleted: false, removedRules, addedRules, silence, fields, restore }
}

const UNCHANGED: MonitorDifference = {
  update: {},
  isPaused: null,
  isDeleted: false,
  removedRules: [],
  addedRules: [],
  silence: undefined,
  fields: [],
  restore: null,
}

/** Undefined when nothing changes. */
function editSilence(before: SilenceSettings | null, wanted: MonitorChange['silence']): SilenceSettings | null | undefined {
  if (wanted === undefined) return undefined
  const after = wanted && { until: new Date(wanted.until).toISOString(), reason: wanted.reason ?? null }
  return isDeepStrictEqual(before, after) ? undefined : after
}

type ListEdit<T, List> = { set?: List; add?: T[]; remove?: T[] }

/** The order of what stays is kept; what is added comes last. Null stays null when nothing is added. */
function editList<T, List extends T[] | null>(before: List, { set, add = [], remove = [] }: ListEdit<T, List>): List {
  if (set !== undefined) return set
  const kept = (before ?? []).filter(one => !remove.includes(one))
  const after = [...new Set([...kept, ...add])]
  return (before === null && after.length === 0 ? null : after) as List
}

function editRules(rules: readonly StoredRule[], { add = [], remove = [] }: NonNullable<MonitorChange['alert_rules']>) {
  const leaving = new Set(remove.map(id => id.toLowerCase()))
  const removed = rules.filter(({ alertChannelId }) => leaving.has(alertChannelId))
  const staying = new Set(rules.filter(rule => !removed.includes(rule)).map(({ alertChannelId }) => alertChannelId))
  const added = new Map<string, RuleSettings>()
  for (const rule of add) {
    const alert_channel_id = rule.alert_channel_id.toLowerCase()
    if (!staying.has(alert_channel_id)) added.set(alert_channel_id, { ...rule, alert_channel_id })
  }
  return { removed, added: [...added.values()] }
}

const toRuleSettings = (rule: StoredRule): RuleSettings => ({
  alert_channel_id: rule.alertChannelId,
  on_down: rule.onDown,
  on_recovery: rule.onRecovery,
  on_degraded: rule.onDegraded,
  remind_every_minutes: rule.remindEveryMinutes,
})
