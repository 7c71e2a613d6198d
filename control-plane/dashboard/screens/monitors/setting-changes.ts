/** Changes of the settings of a monitor and of its alert rules as marks, from the audit log. Pure. */
import type { OperationResponse } from '../../core/operations.ts'
import type { Mark } from '../../parts/charts/axes.tsx'

type AuditList = OperationResponse<'listAuditLog'>
type AuditEntry = AuditList['data'][number]
type Rules = OperationResponse<'listAlertRules'> | null
type Channels = OperationResponse<'listAlertChannels'> | null

const MAX_FIELDS = 4

/**
 * One mark for each entry, with the person and the fields. Empty for people who cannot read the audit log. `rules` and
 * `channels`: for the names of the channels.
 */
export function toChangeMarks(list: AuditList | null, rules: Rules, channels: Channels): Mark[] {
  return (list?.data ?? []).flatMap(entry => {
    const what = entry.resource === 'alert_rule' ? describeRule(entry, rules, channels) : describeSettings(entry)
    if (what === null) return []
    const atMs = Date.parse(entry.at)
    return { kind: 'change', fromMs: atMs, toMs: atMs, text: `${what} by ${entry.actor.name}` } satisfies Mark
  })
}

/** Whether there are older entries than those that were read. */
export const hasMoreEntries = (list: AuditList | null): boolean => list !== null && list.meta.total > list.data.length

/** `Settings changed: url, name`; null for the creation of the monitor. */
const describeSettings = ({ action, changes }: AuditEntry): string | null =>
  action === 'updated' ? `Settings changed: ${formatFields(changes)}` : null

/** `Alert rule for Ops created` */
function describeRule({ action, changes, resource_id: ruleId }: AuditEntry, rules: Rules, channels: Channels): string {
  const { from, to } = changes.alert_channel_id ?? {}
  const channelId = to ?? from ?? rules?.data.find(({ id }) => id === ruleId)?.alert_channel_id
  const channel = channels?.data.find(({ id }) => id === channelId)
  const rule = channel ? `Alert rule for ${channel.name}` : 'Alert rule'
  return action === 'updated' ? `${rule} changed: ${formatFields(changes)}` : `${rule} ${action}`
}

function formatFields(changes: AuditEntry['changes']): string {
  const names = Object.keys(changes)
  const more = names.length - MAX_FIELDS
  return [...names.slice(0, MAX_FIELDS), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
