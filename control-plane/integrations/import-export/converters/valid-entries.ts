import { type FindFaults, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import {
  type ChannelEntry,
  type MonitorEntry,
  ProjectFile,
  type RuleEntry,
  type WindowEntry,
} from '../file/project-file.ts'
import { type ImportWarning, LEFT_OUT, RULE_LEFT_OUT } from '../import/import-report.ts'
import type { WarnAt } from './foreign-file.ts'

type Section = 'alert_channels' | 'monitors' | 'maintenance_windows'
type Entry = ChannelEntry | MonitorEntry | WindowEntry

/**
 * Removes entries that the schema refuses, and what refers to them, with a warning for each. Checks every entry of a file
 * of any length.
 */
export function dropInvalidEntries(
  file: ProjectFile,
  findFaults: FindFaults,
): { file: ProjectFile; warnings: ImportWarning[] } {
  const warnings: ImportWarning[] = []
  const warn: WarnAt = (path, message) => warnings.push({ path, message })
  const isValid = (section: Section, entry: Entry, index: number) => {
    const faults = findFaults(ProjectFile.properties[section].items, entry)
    if (faults.length === 0) return true
    const problems = toErrorDetails(faults, 'entry').map(({ message }) => message)
    warn(`${section}[${index}]`, `${getName(entry)}: ${problems.join('; ')}${LEFT_OUT}`)
    return false
  }
  const channels = file.alert_channels?.filter((entry, i) => isValid('alert_channels', entry, i))
  const valid = new Set(file.monitors?.filter((entry, i) => isValid('monitors', entry, i)))
  const lostChannels = listLost(file.alert_channels ?? [], new Set(channels))
  const lostMonitors = listLost(file.monitors ?? [], valid)
  const monitors = file.monitors?.flatMap((entry, i) =>
    valid.has(entry) ? [withoutLostLinks(entry, { lostChannels, lostMonitors }, `monitors[${i}]`, warn)] : [],
  )
  const windows = file.maintenance_windows?.flatMap((entry, i) => {
    const window = withoutLostMonitors(entry, lostMonitors, `maintenance_windows[${i}]`, warn)
    return window !== null && isValid('maintenance_windows', window, i) ? [window] : []
  })
  return { file: { ...file, alert_channels: channels, monitors, maintenance_windows: windows }, warnings }
}

const getName = (entry: Entry) => ('title' in entry ? entry.title : entry.name)

/** Returns the names and ids that refer to removed entries only. */
function listLost<E extends ChannelEntry | MonitorEntry>(entries: readonly E[], kept: ReadonlySet<E>): Set<string> {
  const referencesTo = ({ id, name }: E) => (id === undefined ? [name] : [id, name])
  const lost = new Set(entries.filter(entry => !kept.has(entry)).flatMap(referencesTo))
  for (const reference of [...kept].flatMap(referencesTo)) lost.delete(reference)
  return lost
}

type LostResources = { lostChannels: ReadonlySet<string>; lostMonitors: ReadonlySet<string> }

function withoutLostLinks(
  monitor: MonitorEntry,
  { lostChannels, lostMonitors }: LostResources,
  path: string,
  warn: WarnAt,
): MonitorEntry {
  const { rules = [], parents = [], name } = monitor
  const isLostRule = ({ channel }: RuleEntry) => lostChannels.has(channel)
  for (const { channel } of rules.filter(isLostRule)) {
    warn(path, `${name}: its alert channel ${channel} was left out${RULE_LEFT_OUT}`)
  }
  for (const parent of parents.filter(parent => lostMonitors.has(parent))) {
    warn(path, `${name}: its parent ${parent} was left out`)
  }
  return {
    ...monitor,
    ...(rules.some(isLostRule) && { rules: rules.filter(rule => !isLostRule(rule)) }),
    ...(parents.length > 0 && { parents: parents.filter(parent => !lostMonitors.has(parent)) }),
  }
}

/** Returns a window without the monitors that were removed; null when none is left. */
function withoutLostMonitors(
  window: WindowEntry,
  lostMonitors: ReadonlySet<string>,
  path: string,
  warn: WarnAt,
): WindowEntry | null {
  const gone = window.monitors.filter(reference => lostMonitors.has(reference))
  if (gone.length === 0) return window
  const monitors = window.monitors.filter(reference => !lostMonitors.has(reference))
  if (monitors.length === 0) {
    warn(path, `${window.title}: none of its monitors is left${LEFT_OUT}`)
    return null
  }
  warn(path, `${window.title}: monitors that were left out are not in its maintenance: ${gone.join(', ')}`)
  return { ...window, monitors }
}
