import type { MonitorEntry, WindowEntry } from '../../document.ts'
import type { Warning } from '../../ledger.ts'
import {
  type Converted,
  HEARTBEAT_BOUNDS,
  isSource,
  nameOf,
  notOf,
  recordsIn,
  type Source,
  tagsOf,
  tellIfCut,
  textOf,
  type Warn,
  within,
} from '../source.ts'
import { type Alerting, readAlerting, tellOfAlert, thresholdOf } from './alerting.ts'
import { durationMs } from './duration.ts'
import { retriesOf, toMonitor } from './endpoint.ts'
import { toWindow } from './maintenance.ts'
import { merged } from './texts.ts'

const READ = ['endpoints', 'external-endpoints', 'alerting', 'maintenance']
/** They are about Gatus itself and say nothing of what is watched. */
const OF_ITSELF = [
  'debug',
  'metrics',
  'skip-invalid-config-update',
  'disable-monitoring-lock',
  'concurrency',
  'storage',
  'web',
]

/** Gatus' configuration: endpoints, external endpoints, alerting and maintenance. */
export function convertGatus(body: unknown): Converted {
  const source = merged(body)
  if (!isSource(source) || !(source.endpoints || source['external-endpoints'])) throw notOf('Gatus', 'endpoints')
  const warnings: Warning[] = []
  const warn: Warn = (path, message) => warnings.push({ path, message })
  const alerting = readAlerting(source.alerting ?? {}, warn)
  const made = [
    ...recordsIn(source.endpoints ?? [], 'endpoints', warn).map(endpoint => ({ ...endpoint, make: toMonitor })),
    ...recordsIn(source['external-endpoints'] ?? [], 'external-endpoints', warn).map(endpoint => ({
      ...endpoint,
      make: toHeartbeat,
    })),
  ]
  const monitors: MonitorEntry[] = []
  const windows: WindowEntry[] = []
  for (const { record, path, make } of made) {
    const say = (message: string) => warn(path, message)
    const monitor = make(record, keyOf(record), say)
    if (monitor === null) continue
    monitors.push({ ...monitor, ...alertsOf(record, alerting, path, warn) })
    windows.push(...windowsOf(record, monitor, path, warn))
  }
  const everywhere = toWindow(source.maintenance, 'Maintenance', monitors.map(referenceTo), message =>
    warn('maintenance', message),
  )
  if (monitors.some(({ type, retry_count = 0 }) => type !== 'heartbeat' && retry_count > 0)) {
    warn('alerting', 'failures are counted within seconds here (failure-threshold), not an interval apart')
  }
  for (const key of Object.keys(source).filter(key => ![...READ, ...OF_ITSELF].includes(key))) {
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
const keyOf = ({ group, name }: Source) => `${textOf(group) ?? ''}_${textOf(name) ?? ''}`.toLowerCase().slice(0, 100)

const referenceTo = ({ id, name }: MonitorEntry) => id ?? name

function alertsOf(record: Source, alerting: Alerting, path: string, warn: Warn): Partial<MonitorEntry> {
  const alerts = recordsIn(record.alerts ?? [], `${path}.alerts`, warn)
    .map(({ record: own, path }) => ({ own, whole: alerting.wholeOf(own), path }))
    .filter(({ whole }) => whole.enabled !== false)
  const rules = alerts.flatMap(({ own, whole, path }) => {
    const tell = (message: string) => warn(path, message)
    tellOfAlert(own, tell)
    const rule = alerting.ruleOf(whole, textOf(record.group), tell)
    if (rule === null) tell(`its alerts by ${whole.type} were left out`)
    return rule ?? []
  })
  const each = new Map(rules.map(rule => [rule.channel, rule]))
  const thresholds = alerts.map(({ whole }) => thresholdOf(whole))
  const retry = thresholds.length === 0 ? {} : { retry_count: retriesOf(thresholds, message => warn(path, message)) }
  return { ...retry, rules: [...each.values()] }
}

function windowsOf(record: Source, monitor: MonitorEntry, path: string, warn: Warn): WindowEntry[] {
  const windows = recordsIn(record['maintenance-windows'] ?? [], `${path}.maintenance-windows`, warn)
  return windows.flatMap(({ record: window, path }, index) => {
    const title = `Maintenance of ${monitor.name}${index === 0 ? '' : ` (${index + 1})`}`
    return toWindow(window, title, [referenceTo(monitor)], message => warn(path, message)) ?? []
  })
}

/** Its results are pushed there with a token, and pinged here at an address. */
function toHeartbeat(record: Source, id: string, say: (message: string) => void): MonitorEntry {
  const name = nameOf(record.name, 'Endpoint')
  say(`${name}: it has an address to ping instead of a token; change it where its results come from`)
  const tell = (message: string) => say(`${name}: ${message}`)
  tellIfCut(record.name, name, tell)
  const seconds = (isSource(record.heartbeat) ? (durationMs(record.heartbeat.interval) ?? 0) : 0) / 1_000
  if (seconds === 0) tell('nothing says how often its results come; it is watched once it has a heartbeat_interval')
  const wait = within(seconds, HEARTBEAT_BOUNDS, moved => seconds > 0 && tell(`it is expected every ${moved} s`))
  return {
    ...{ id, name, type: 'heartbeat' },
    ...(seconds > 0 && { heartbeat_interval: wait, heartbeat_grace: 0 }),
    ...(record.enabled === false && { is_paused: true }),
    tags: tagsOf([textOf(record.group)], tell),
  }
}
