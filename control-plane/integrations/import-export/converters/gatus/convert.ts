import type { MonitorEntry, WindowEntry } from '../../file/project-file.ts'
import { type ImportWarning, RULE_LEFT_OUT } from '../../import/import-report.ts'
import {
  type ConvertedFile,
  clampWithWarning,
  type ForeignRecord,
  HEARTBEAT_BOUNDS,
  isRecord,
  listRecords,
  toName,
  toTags,
  toText,
  type WarnAt,
  warnIfCut,
  wrongProductError,
} from '../foreign-file.ts'
import { type AlertingConfig, findThreshold, parseAlerting, warnAboutAlert } from './alerting.ts'
import { parseDurationMs } from './duration.ts'
import { computeRetries, toMonitor } from './endpoint.ts'
import { toWindow } from './maintenance.ts'
import { resolveMergeKeys } from './template-values.ts'

const READ = ['endpoints', 'external-endpoints', 'alerting', 'maintenance']
/** Settings of Gatus itself, which need no warning. */
const OWN_SETTINGS = [
  'debug',
  'metrics',
  'skip-invalid-config-update',
  'disable-monitoring-lock',
  'concurrency',
  'storage',
  'web',
]

/** Converts a configuration of Gatus: endpoints, external endpoints, alerting and maintenance. */
export function convertGatus(body: unknown): ConvertedFile {
  const source = resolveMergeKeys(body)
  if (!isRecord(source) || !(source.endpoints || source['external-endpoints']))
    throw wrongProductError('a Gatus configuration', 'endpoints')
  const warnings: ImportWarning[] = []
  const warn: WarnAt = (path, message) => warnings.push({ path, message })
  const alerting = parseAlerting(source.alerting ?? {}, warn)
  const endpoints = [
    ...listRecords(source.endpoints ?? [], 'endpoints', warn).map(endpoint => ({ ...endpoint, convert: toMonitor })),
    ...listRecords(source['external-endpoints'] ?? [], 'external-endpoints', warn).map(endpoint => ({
      ...endpoint,
      convert: toHeartbeat,
    })),
  ]
  const monitors: MonitorEntry[] = []
  const windows: WindowEntry[] = []
  const chooseId = createIdChoice(endpoints.map(({ record }) => record))
  for (const { record, path, convert } of endpoints) {
    const monitor = convert(record, chooseId(record, path), message => warn(path, message))
    if (monitor === null) continue
    monitors.push({ ...monitor, ...toAlerts(record, monitor, alerting, path, warn) })
    windows.push(...toWindows(record, monitor, path, warn))
  }
  const globalWindow = toWindow(source.maintenance, 'Maintenance', monitors.map(referenceTo), message =>
    warn('maintenance', message),
  )
  if (monitors.some(({ retry_count = 0 }) => retry_count > 0)) {
    warn('alerting', 'failure-threshold becomes re-checks, which follow within seconds instead of an interval apart')
  }
  for (const key of Object.keys(source).filter(key => ![...READ, ...OWN_SETTINGS].includes(key))) {
    warn(key, `${key} was not carried over`)
  }
  const file = {
    version: 1 as const,
    alert_channels: alerting.channels,
    monitors,
    maintenance_windows: [...windows, ...(globalWindow ? [globalWindow] : [])],
  }
  return { file, warnings }
}

/**
 * Creates a function that returns an id for an endpoint: its group and name, or its path when another endpoint has this id
 * or name.
 */
function createIdChoice(records: readonly ForeignRecord[]) {
  const taken = new Set(records.map(({ name }) => toName(name, '')))
  return ({ group, name }: ForeignRecord, path: string): string => {
    const key = `${toText(group) ?? ''}_${toText(name) ?? ''}`.toLowerCase()
    const id = taken.has(key) || key.length > 100 ? path : key
    taken.add(id)
    return id
  }
}

const referenceTo = ({ id, name }: MonitorEntry) => id ?? name

function toAlerts(
  record: ForeignRecord,
  monitor: MonitorEntry,
  alerting: AlertingConfig,
  path: string,
  warn: WarnAt,
): Partial<MonitorEntry> {
  // a slow response is a failure in Gatus, and makes a monitor degraded in Picket
  const alertsWhenSlow = monitor.assertions?.some(({ type }) => type === 'response_time') ?? false
  const alerts = listRecords(record.alerts ?? [], `${path}.alerts`, warn)
    .map(({ record: own, path }) => ({ own, merged: alerting.withDefaults(own), path }))
    .filter(({ merged }) => merged.enabled !== false)
  const rules = alerts.flatMap(({ own, merged, path }) => {
    const addWarning = (message: string) => warn(path, message)
    warnAboutAlert(own, addWarning)
    const rule = alerting.toRule(merged, toText(record.group), addWarning)
    if (rule === null) addWarning(`it alerts by ${merged.type}, which is not a channel of the file${RULE_LEFT_OUT}`)
    return rule === null ? [] : [{ ...rule, ...(alertsWhenSlow && { on_degraded: true }) }]
  })
  const rulesByChannel = new Map(rules.map(rule => [rule.channel, rule]))
  const threshold = findThreshold(
    alerts.map(({ merged }) => merged),
    message => warn(path, message),
  )
  return { ...toThresholds(monitor, threshold, message => warn(path, message)), rules: [...rulesByChannel.values()] }
}

/** Converts a failure-threshold to re-checks. Each interval in which a heartbeat is missing counts as a failure in Gatus. */
function toThresholds(
  { type, heartbeat_interval: interval }: MonitorEntry,
  threshold: number | null,
  addWarning: (message: string) => void,
): Partial<MonitorEntry> {
  if (threshold === null) return {}
  if (type !== 'heartbeat') return { retry_count: computeRetries(threshold, addWarning) }
  if (interval == null) return {}
  const grace = clampWithWarning((threshold - 1) * interval, [0, HEARTBEAT_BOUNDS[1]], clamped =>
    addWarning(`its failure-threshold of ${threshold} was changed to a grace of ${clamped} s`),
  )
  return { heartbeat_grace: grace }
}

function toWindows(record: ForeignRecord, monitor: MonitorEntry, path: string, warn: WarnAt): WindowEntry[] {
  const windows = listRecords(record['maintenance-windows'] ?? [], `${path}.maintenance-windows`, warn)
  return windows.flatMap(({ record: window, path }, index) => {
    const title = `Maintenance of ${monitor.name}${index === 0 ? '' : ` (${index + 1})`}`
    return toWindow(window, title, [referenceTo(monitor)], message => warn(path, message)) ?? []
  })
}

/** Converts an external endpoint to a heartbeat. Gatus identifies it by a token, Picket by a ping address. */
function toHeartbeat(record: ForeignRecord, id: string, warn: (message: string) => void): MonitorEntry {
  const name = toName(record.name, 'Endpoint')
  warn(`${name}: it gets a ping address instead of a token; update the sender of its results`)
  const addWarning = (message: string) => warn(`${name}: ${message}`)
  warnIfCut(record.name, name, addWarning)
  const seconds = (isRecord(record.heartbeat) ? (parseDurationMs(record.heartbeat.interval) ?? 0) : 0) / 1_000
  if (seconds === 0) addWarning('it has no heartbeat interval; set heartbeat_interval to start monitoring')
  const interval = clampWithWarning(
    seconds,
    HEARTBEAT_BOUNDS,
    clamped => seconds > 0 && addWarning(`its interval was changed to ${clamped} s`),
  )
  return {
    ...{ id, name, type: 'heartbeat' },
    ...(seconds > 0 && { heartbeat_interval: interval, heartbeat_grace: 0 }),
    ...(record.enabled === false && { is_paused: true }),
    tags: toTags([toText(record.group)], addWarning),
  }
}
