/** Makes a channel alert about every active monitor without an alert channel. Pure. */
import { formatCount } from '../../../core/format.ts'
import type { Execute, OperationResponse } from '../../../core/operations.ts'

type AlertAllResult = OperationResponse<'changeMonitors'>['data']

/** Adds a rule of the channel to each active monitor without an alert channel, with one operation. */
export const alertAll = (execute: Execute, channelId: string) =>
  execute('changeMonitors', {
    body: {
      query: { alerted: false, paused: false },
      change: { alert_rules: { add: [{ alert_channel_id: channelId }] } },
      dry_run: false,
    },
  })

/** `Operations is alerted about 3 monitors.` Monitors that could not be changed are named with the reason. */
export function describeAlertAll(channelName: string, { changed, unchanged, refused, items }: AlertAllResult): string {
  const reason = items.find(({ result }) => result === 'refused')?.error?.message
  const parts = [
    `${channelName} is alerted about ${formatCount(changed, 'monitor')}.`,
    unchanged > 0 &&
      `${formatCount(unchanged, 'monitor')} already had a rule of this channel that leaves out outages; change it at the monitor.`,
    refused > 0 && `${formatCount(refused, 'monitor')} could not be changed: ${reason ?? 'unknown reason'}.`,
  ]
  return parts.filter(Boolean).join(' ')
}
