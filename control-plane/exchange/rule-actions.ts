import { changeRule, createRules, type NewRule } from '../alerts/rule-actions.ts'
import { linkDefaultChannels, listRules, type StoredRule } from '../alerts/store.ts'
import { validationError } from '../web/errors.ts'
import { RULE_DEFAULTS, ruleFields, ruleFieldsOf } from './channel-fields.ts'
import type { RuleEntry } from './document.ts'
import { concise, differences, type Fields, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import type { PlannedMonitor } from './monitor-plan.ts'
import type { Find } from './names.ts'
import type { Run } from './run.ts'

const RESOURCE = 'alert_rule'
const asIs = (fields: Fields) => fields

/** The rules that the monitors of the file name. Answers those beside them, of monitors that name theirs. */
export async function importRules(run: Run, planned: PlannedMonitor[], find: Find): Promise<StoredRule[]> {
  await linkNew(run, planned)
  const unnamed: StoredRule[] = []
  const fresh: NewRule[] = []
  for (const monitor of planned.filter(({ entry }) => entry.rules !== undefined)) {
    const stored = run.state.rules.get(monitor.id) ?? []
    const named = await importRulesOf(run, monitor, stored, find, fresh)
    unnamed.push(...stored.filter(({ alertChannelId }) => !named.has(alertChannelId)))
  }
  await attempt(run.ledger, 'monitors', () => createRules(run.tx, run.caller.projectId, fresh, limitOf(run), run.now))
  return unnamed
}

/** A new monitor of whose rules nothing is said tells the default channels, like any other. */
async function linkNew({ tx, caller, ledger }: Run, planned: PlannedMonitor[]): Promise<void> {
  const fresh = planned.filter(({ stored, entry }) => stored === null && entry.rules === undefined)
  if (fresh.length === 0) return
  const names = new Map(fresh.map(({ id, entry }) => [id, entry.name]))
  await linkDefaultChannels(tx, caller.projectId, [...names.keys()])
  const { rows } = await listRules(tx, caller.projectId, { monitorId: null }, null)
  for (const rule of rows.filter(({ monitorId }) => names.has(monitorId)).reverse()) {
    const key = `${names.get(rule.monitorId)} → a default channel`
    ledger.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields: {} })
  }
}

/** Changes those that are there and gathers the others in `fresh`. Answers the channels that they name. */
async function importRulesOf(run: Run, monitor: PlannedMonitor, stored: StoredRule[], find: Find, fresh: NewRule[]) {
  const named = new Set<string>()
  for (const [index, entry] of (monitor.entry.rules ?? []).entries()) {
    const place = `${monitor.place}.rules[${index}]`
    await attempt(run.ledger, place, async () => {
      const channelId = find(entry.channel, 'channel')
      if (channelId === null) return
      if (named.has(channelId)) throw twice()
      named.add(channelId)
      const rule = stored.find(({ alertChannelId }) => alertChannelId === channelId)
      const key = `${monitor.entry.name} → ${entry.channel}`
      if (rule) await updateRule(run, entry, rule, key)
      else fresh.push(newRule(run, entry, monitor.id, channelId, key))
    })
  }
  return named
}

const twice = () => validationError([{ path: 'channel', message: 'channel has a rule for this monitor already' }])

function newRule({ ledger }: Run, entry: RuleEntry, monitorId: string, channelId: string, key: string): NewRule {
  const fields = newFields(concise(ruleFieldsOf(entry), RULE_DEFAULTS))
  ledger.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields })
  const { channel, ...switches } = entry
  return { monitor_id: monitorId, alert_channel_id: channelId, ...switches }
}

const limitOf = ({ tools }: Run) => tools.limits.rulesPerMonitor

async function updateRule(run: Run, entry: RuleEntry, rule: StoredRule, key: string) {
  const { tx, caller, ledger, now } = run
  const after = ruleFieldsOf(entry)
  const fields = differences(ruleFields(rule), after, asIs)
  if (noteUpdate(ledger, { resource: RESOURCE, key, id: rule.id, fields })) {
    await changeRule(tx, caller.projectId, rule.id, after, limitOf(run), now)
  }
}
