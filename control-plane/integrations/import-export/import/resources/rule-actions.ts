import { changeRule, createRules } from '../../../../alerting/routing/rules/rule-actions.ts'
import { linkDefaultChannels, listRules, type StoredRule } from '../../../../alerting/routing/rules/rule-store.ts'
import type { RuleCreate } from '../../../../alerting/routing/schemas.ts'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import { RULE_DEFAULTS, toRuleFields, toStoredRuleFields } from '../../fields/channel-fields.ts'
import { describeNewFields, diffFields, omitDefaults, type RecordFields } from '../../fields/fields.ts'
import type { RuleEntry } from '../../file/project-file.ts'
import type { ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import type { PlannedMonitor } from './monitor-plan.ts'

const RESOURCE = 'alert_rule'
const unmasked = (fields: RecordFields) => fields

/** Imports the rules of monitors. Returns stored rules that the file does not name, of monitors with rules in the file. */
export async function importRules(
  run: ImportRun,
  planned: PlannedMonitor[],
  find: ResolveReference,
): Promise<StoredRule[]> {
  await linkDefaultRules(run, planned)
  const unnamed: StoredRule[] = []
  const newRules: RuleCreate[] = []
  for (const monitor of planned.filter(({ entry }) => entry.rules !== undefined)) {
    const stored = run.state.rules.get(monitor.id) ?? []
    const named = await importMonitorRules(run, monitor, stored, find, newRules)
    unnamed.push(...stored.filter(({ alertChannelId }) => !named.has(alertChannelId)))
  }
  await attempt(run.report, 'monitors', () =>
    createRules(run.tx, run.caller.projectId, newRules, getRuleLimit(run), run.now),
  )
  return unnamed
}

/** Adds rules for the default channels to new monitors without rules in the file, as for any new monitor. */
async function linkDefaultRules({ tx, caller, report }: ImportRun, planned: PlannedMonitor[]): Promise<void> {
  const newMonitors = planned.filter(({ stored, entry }) => stored === null && entry.rules === undefined)
  if (newMonitors.length === 0) return
  const names = new Map(newMonitors.map(({ id, entry }) => [id, entry.name]))
  await linkDefaultChannels(tx, caller.projectId, [...names.keys()])
  const { rows } = await listRules(tx, caller.projectId, { monitorId: null }, null)
  for (const rule of rows.filter(({ monitorId }) => names.has(monitorId)).reverse()) {
    const key = `${names.get(rule.monitorId)} → a default channel`
    report.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields: {} })
  }
}

/** Updates stored rules and collects new ones in `newRules`. Returns the channels that the file names. */
async function importMonitorRules(
  run: ImportRun,
  monitor: PlannedMonitor,
  stored: StoredRule[],
  find: ResolveReference,
  newRules: RuleCreate[],
) {
  const named = new Set<string>()
  for (const [index, entry] of (monitor.entry.rules ?? []).entries()) {
    const place = `${monitor.place}.rules[${index}]`
    await attempt(run.report, place, async () => {
      const channelId = find(entry.channel, 'channel')
      if (channelId === null) return
      if (named.has(channelId)) throw duplicateRuleError()
      named.add(channelId)
      const rule = stored.find(({ alertChannelId }) => alertChannelId === channelId)
      const key = `${monitor.entry.name} → ${entry.channel}`
      if (rule) await updateRule(run, entry, rule, key)
      else newRules.push(newRule(run, entry, monitor.id, channelId, key))
    })
  }
  return named
}

const duplicateRuleError = () =>
  validationError([{ path: 'channel', message: 'channel already has a rule for this monitor' }])

function newRule(
  { report }: ImportRun,
  entry: RuleEntry,
  monitorId: string,
  channelId: string,
  key: string,
): RuleCreate {
  const fields = describeNewFields(omitDefaults(toRuleFields(entry), RULE_DEFAULTS))
  report.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields })
  const { channel, ...switches } = entry
  return { monitor_id: monitorId, alert_channel_id: channelId, ...switches }
}

const getRuleLimit = ({ tools }: ImportRun) => tools.limits.rulesPerMonitor

async function updateRule(run: ImportRun, entry: RuleEntry, rule: StoredRule, key: string) {
  const { tx, caller, report, now } = run
  const after = toRuleFields(entry)
  const fields = diffFields(toStoredRuleFields(rule), after, unmasked)
  if (recordUpdate(report, { resource: RESOURCE, key, id: rule.id, fields })) {
    await changeRule(tx, caller.projectId, rule.id, after, getRuleLimit(run), now)
  }
}
