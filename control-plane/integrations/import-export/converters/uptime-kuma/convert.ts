import { groupBy } from '../../../../../shared/group-by.ts'
import type { ChannelEntry, MonitorEntry } from '../../file/project-file.ts'
import type { ImportWarning } from '../../import/import-report.ts'
import {
  type ConvertedFile,
  type ForeignRecord,
  isRecord,
  isSet,
  listRecords,
  wrongProductError,
} from '../foreign-file.ts'
import { toChannel } from './channel.ts'
import { toMonitor } from './monitor.ts'

const READ = ['version', 'notificationList', 'monitorList']

/** What sections that are not converted are called in Uptime Kuma. */
const SECTION_NAMES: Record<string, string> = {
  statusPageList: 'Status pages',
  maintenanceList: 'Maintenance',
  proxyList: 'Proxies',
  dockerHostList: 'Docker hosts',
}

/**
 * Converts a backup of Uptime Kuma 1 (Settings, Backup): `{ version, notificationList, monitorList }`. Version 2 has no
 * backup; its API returns the same records, by id.
 */
export function convertUptimeKuma(source: unknown): ConvertedFile {
  if (!isRecord(source) || !source.monitorList) throw wrongProductError('an Uptime Kuma backup', 'monitorList')
  const warnings: ImportWarning[] = []
  const warn = (path: string, message: string) => warnings.push({ path, message })
  const channels = new Map<string, ChannelEntry>()
  for (const { record, path } of listRecords(source.notificationList ?? [], 'notificationList', warn)) {
    const channel = toChannel(record, message => warn(path, message))
    if (channel) channels.set(String(record.id), channel)
  }
  addIdsToDuplicates(channels)
  const records = listRecords(source.monitorList, 'monitorList', warn)
  const groups = buildGroupPaths(records.map(({ record }) => record))
  const monitors: MonitorEntry[] = []
  for (const { record, path } of records) {
    const monitor = toMonitor(record, { channels, groups }, message => warn(path, message))
    if (monitor) monitors.push(monitor)
  }
  if (monitors.some(({ retry_count = 0 }) => retry_count > 0)) {
    warn('monitorList', 'Retries: they become re-checks, which follow within seconds instead of the retry interval')
  }
  for (const section of Object.keys(source).filter(key => !READ.includes(key) && isSet(source[key]))) {
    warn(section, `${SECTION_NAMES[section] ?? section}: this section was not carried over`)
  }
  return { file: { version: 1, alert_channels: [...channels.values()], monitors }, warnings }
}

/** Adds ids to notifications with the same name, so that rules can refer to them. */
function addIdsToDuplicates(channels: Map<string, ChannelEntry>): void {
  const sharing = groupBy([...channels], ([, { name }]) => name)
  for (const [id, channel] of [...sharing.values()].filter(({ length }) => length > 1).flat()) {
    channels.set(id, { ...channel, id: `notification-${id}` })
  }
}

/** Maximum number of tags of a monitor. */
const MAX_GROUPS = 50

/** Returns the groups above each group, with itself last, by its id. */
function buildGroupPaths(records: ForeignRecord[]): Map<string, ForeignRecord[]> {
  const groups = new Map(records.filter(({ type }) => type === 'group').map(record => [String(record.id), record]))
  const findPath = (id: string): ForeignRecord[] => {
    const path: ForeignRecord[] = []
    const seen = new Set<string>()
    for (
      let at = id;
      groups.has(at) && !seen.has(at) && path.length < MAX_GROUPS;
      at = String(groups.get(at)!.parent)
    ) {
      seen.add(at)
      path.unshift(groups.get(at)!)
    }
    return path
  }
  return new Map([...groups.keys()].map(id => [id, findPath(id)]))
}
