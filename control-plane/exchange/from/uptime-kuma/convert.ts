import type { ChannelEntry, MonitorEntry } from '../../document.ts'
import type { Warning } from '../../ledger.ts'
import { type Converted, isSource, notOf, recordsIn, type Source } from '../source.ts'
import { toChannel } from './channel.ts'
import { toMonitor } from './monitor.ts'

/**
 * The backup that Uptime Kuma 1 writes (Settings, Backup): `{ version, notificationList, monitorList }`. Version 2 writes
 * none; its API answers the same records, by their ids.
 */
export function convertUptimeKuma(source: unknown): Converted {
  if (!isSource(source) || !source.monitorList) throw notOf('Uptime Kuma', 'monitorList')
  const warnings: Warning[] = []
  const warn = (path: string, message: string) => warnings.push({ path, message })
  const channels = new Map<string, ChannelEntry>()
  for (const { record, path } of recordsIn(source.notificationList ?? [], 'notificationList', warn)) {
    const channel = toChannel(record, message => warn(path, message))
    if (channel) channels.set(String(record.id), channel)
  }
  const records = recordsIn(source.monitorList, 'monitorList', warn)
  const groups = groupNames(records.map(({ record }) => record))
  const monitors: MonitorEntry[] = []
  for (const { record, path } of records) {
    const monitor = toMonitor(record, { channels, groups }, message => warn(path, message))
    if (monitor) monitors.push(monitor)
  }
  for (const section of ['proxyList', 'maintenanceList', 'statusPageList']) {
    const content = source[section]
    if (Array.isArray(content) ? content.length > 0 : content != null) {
      warn(section, `${section} was not carried over`)
    }
  }
  return { file: { version: 1, alert_channels: [...channels.values()], monitors }, warnings }
}

/** Names of the groups above a group, itself last, by its id. */
function groupNames(records: Source[]): Map<string, string[]> {
  const groups = new Map(records.filter(({ type }) => type === 'group').map(record => [String(record.id), record]))
  const pathOf = (id: string, seen: string[]): string[] => {
    const group = groups.get(id)
    if (!group || seen.includes(id)) return []
    return [...pathOf(String(group.parent), [...seen, id]), String(group.name)]
  }
  return new Map([...groups.keys()].map(id => [id, pathOf(id, [])]))
}
