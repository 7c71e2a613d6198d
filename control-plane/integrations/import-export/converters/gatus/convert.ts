import type { MonitorEntry, WindowEntry } from '../../file/project-file.ts'
import type { ImportWarning } from '../../import/import-report.ts'
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
import { type Alerting, getThreshold, parseAlerting, warnAboutAlert } from './alerting.ts'
import { parseDurationMs } from './duration.ts'
import { computeRetries, toMonitor } from './endpoint.ts'
import { toWindow } from './maintenance.ts'
import { resolveMergeKeys } from './template-values.ts'

const READ = ['endpoints', 'external-endpoints', 'alerting', 'maintenance']
/** They are about Gatus itself and say nothing of what is watched. */
const OWN_SETTINGS = [
  'debug',
  'metrics',
  'skip-invalid-config-update',
  'disable-monitoring-lock',
  'concurrency',
  'storage',
  'web',
]

/** Gatus' configuration: endpoints, external endpoints, alerting and maintenance. */
export function convertGatus(body: unknown): ConvertedFile {
  const source = resolveMergeKeys(body)
  if (!isRecord(source) || !(source.endpoints || source['external-endpoints']))
    throw wrongProductError('Gatus', 'endpoints')
  const warnings: ImportWarning[] = []
  const warn: WarnAt = (path, message) => warnings.push({ path, message })
  const alerting = parseAlerting(source.alerting ?? {}, warn)
  const made = [
    ...listRecords(source.endpoints ?? [], 'endpoints', warn).map(endpoint => ({ ...endpoint, make: toMonitor })),
    ...listRecords(source['external-endpoints'] ?? [], 'external-endpoints', warn).map(endpoint => ({
      ...endpoint,
      make: toHeartbeat,
    })),
  ]
  const monitors: MonitorEntry[] = []
  const windows: WindowEntry[] = []
  for (const { record, path, make } of made) {
    const say = (message: string) => warn(path, message)
    const monitor = make(record, getKey(record), say)
    if (monitor === null) continue
    monitors.push({ ...monitor, ...toAlerts(record, alerting, path, warn) })
    windows.push(...toWindows(record, monitor, path, warn))
  }
  const everywhere = toWindow(source.maintenance, 'Maintenance', monitors.map(referenceTo), message =>
    warn('maintenance', message),
  )
  if (monitors.some(({ type, retry_count = 0 }) => type !== 'heartbeat' && retry_count > 0)) {
    warn('alerting', 'failures are counted within seconds here (failure-threshold), not an interval apart')
  }
  for (const key of Object.keys(source).filter(key => ![...READ, ...OWN_SETTINGS].includes(key))) {
    warn(key, `${key} was not carried over`)
  }
  const file = {
    version: 1 as const,
    alert_channels: alerting.channels,
    monitors,
    maintenance_windows: [...windows, ...(everywhere ? [everywhere] : [])],
  }
  return { file, warnings }
}

/** What tells endpoints apart there: group and name. */
const getKey = ({ group, name }: ForeignRecord) =>
  `${toText(group) ?? ''}_${toText(name) ?? ''}`.toLowerCase().slice(0, 100)

const referenceTo = ({ id, name }: MonitorEntry) => id ?? name

function toAlerts(record: ForeignRecord, alerting: Alerting, path: string, warn: WarnAt): Partial<MonitorEntry> {
  const alerts = listRecords(record.alerts ?? [], `${path}.alerts`, warn)
    .map(({ record: own, path }) => ({ own, whole: alerting.withDefaults(own), path }))
    .filter(({ whole }) => whole.enabled !== false)
  const rules = alerts.flatMap(({ own, whole, path }) => {
    const tell = (message: string) => warn(path, message)
    warnAboutAlert(own, tell)
    const rule = alerting.toRule(whole, toText(record.group), tell)
    if (rule === null) tell(`its alerts by ${whole.type} were left out`)
    return rule ?? []
  })
  const each = new Map(rules.map(rule => [rule.channel, rule]))
  const thresholds = alerts.map(({ whole }) => getThreshold(whole))
  const retry =
    thresholds.length === 0 ? {} : { retry_count: computeRetries(thresholds, message => warn(path, message)) }
  return { ...retry, rules: [...each.values()] }
}

function toWindows(record: ForeignRecord, monitor: MonitorEntry, path: string, warn: WarnAt): WindowEntry[] {
  const windows = listRecords(record['maintenance-windows'] ?? [], `${path}.maintenance-windows`, warn)
  return windows.flatMap(({ record: window, path }, index) => {
    const title = `Maintenance of ${monitor.name}${index === 0 ? '' : ` (${index + 1})`}`
    return toWindow(window, title, [referenceTo(monitor)], message => warn(path, message)) ?? []
  })
}

/** Its results are pushed there with a token, and pinged here at an address. */
function toHeartbeat(record: ForeignRecord, id: string, say: (message: string) => void): MonitorEntry {
  const name = toName(record.name, 'Endpoint')
  say(`${name}: it has an address to ping instead of a token; change it where its results come from`)
  const tell = (message: string) => say(`${name}: ${message}`)
  warnIfCut(record.name, name, tell)
  const seconds = (isRecord(record.heartbeat) ? (parseDurationMs(record.heartbeat.interval) ?? 0) : 0) / 1_000
  if (seconds === 0) tell('nothing says how often its results come; it is watched once it has a heartbeat_interval')
  const wait = clampWithWarning(
    seconds,
    HEARTBEAT_BOUNDS,
    moved => seconds > 0 && tell(`it is expected every ${moved} s`),
  )
  return {
    ...{ id, name, type: 'heartbeat' },
    ...(seconds > 0 && { heartbeat_interval: wait, heartbeat_grace: 0 }),
    ...(record.enabled === false && { is_paused: true }),
    tags: toTags([toText(record.group)], tell),
  }
}
