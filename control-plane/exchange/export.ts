import type { StoredOverride } from '../alerts/override.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Secrets } from '../platform/secrets.ts'
import { byOrder } from '../status-pages/order.ts'
import type { StoredComponent } from '../status-pages/records.ts'
import type { Dependency } from '../vendors/types.ts'
import { CHANNEL_DEFAULTS, RULE_DEFAULTS, ruleFields, showChannel, storedChannelFields } from './channel-fields.ts'
import { dependencyDefaults, OVERRIDE_DEFAULTS, overrideFields, trackedFields } from './dependency-fields.ts'
import { FORMAT_VERSION, type ProjectFile } from './document.ts'
import { concise, type Fields } from './fields.ts'
import { MONITOR_DEFAULTS, showMonitor, storedMonitorFields } from './monitor-fields.ts'
import {
  COMPONENT_DEFAULTS,
  GROUP_DEFAULTS,
  PAGE_DEFAULTS,
  storedComponentFields,
  storedGroupFields,
  storedPageFields,
} from './page-fields.ts'
import { SOURCE_DEFAULTS, showSource, storedFieldEntry, storedSourceFields } from './source-fields.ts'
import type { ProjectState, WholePage, WholeSource } from './state-reader.ts'
import { showWindow, storedWindowFields } from './window-fields.ts'

type Names = ReadonlyMap<string, string>

/** A project as a file: without secrets, without what is as it would be without being said, oldest records first. */
export function exportProject(
  state: ProjectState,
  secrets: Secrets,
  hasEnded: (windowId: string) => boolean,
  isHidden: boolean,
): ProjectFile {
  const { monitors, channels } = state.names
  const { is_digest_enabled, digest_threshold } = state.settings
  const file = {
    version: FORMAT_VERSION,
    alert_settings: { is_digest_enabled, digest_threshold },
    alert_channels: state.channels.map(channel => ({
      id: channel.id,
      ...concise(showChannel(storedChannelFields(channel, secrets), isHidden), CHANNEL_DEFAULTS),
      subscriptions: subscriptionsOf(state, channel.id),
    })),
    monitors: state.monitors.map(monitor => ({
      id: monitor.id,
      ...concise(showMonitor(storedMonitorFields(monitor, secrets)), MONITOR_DEFAULTS),
      ...parentsOf(state, monitor.id, monitors),
      rules: rulesOf(state, monitor.id, channels),
    })),
    maintenance_windows: state.windows
      .filter(window => window.monitorIds.length > 0 && !hasEnded(window.id))
      .map(window => ({ id: window.id, ...concise(showWindow(monitors)(storedWindowFields(window)), {}) })),
    data_sources: state.sources.map(whole => sourceEntry(whole, state.children, secrets)),
    dependencies: state.dependencies.map(dependency => dependencyEntry(dependency, state.overrides, channels)),
    status_pages: state.pages.map(whole => pageEntry(whole, monitors)),
  }
  return file as unknown as ProjectFile
}

const subscriptionsOf = ({ subscriptions }: ProjectState, channelId: string): string[] =>
  subscriptions.flatMap(({ alertChannelId, alertType }) => (alertChannelId === channelId ? [alertType] : [])).sort()

function parentsOf(state: ProjectState, id: string, names: Names): Fields {
  const parents = state.parents.get(id) ?? []
  return parents.length === 0 ? {} : { parents: parents.map(parentId => names.get(parentId) ?? parentId).sort() }
}

const rulesOf = (state: ProjectState, id: string, names: Names): Fields[] =>
  (state.rules.get(id) ?? []).map(rule => ({
    channel: names.get(rule.alertChannelId) ?? rule.alertChannelId,
    ...concise(ruleFields(rule), RULE_DEFAULTS),
  }))

function sourceEntry({ source, fields }: WholeSource, children: StoredMonitor[], secrets: Secrets): Fields {
  const made = children.filter(({ dataSource }) => dataSource?.id === source.id)
  return {
    id: source.id,
    ...concise(showSource(storedSourceFields(source, secrets)), SOURCE_DEFAULTS),
    fields: fields.map(storedFieldEntry),
    ...(made.length > 0 && { monitors: made.map(({ name }) => name) }),
  }
}

function dependencyEntry(dependency: Dependency, overrides: StoredOverride[], channels: Names): Fields {
  const mine = overrideFields(overrides.filter(({ dependencyId }) => dependencyId === dependency.id))
  const named = mine.map(({ channel, ...on }) => ({
    channel: channels.get(channel as string) ?? channel,
    ...concise(on, OVERRIDE_DEFAULTS),
  }))
  return {
    id: dependency.id,
    ...concise(trackedFields(dependency), dependencyDefaults(dependency.slug)),
    ...(named.length > 0 && { overrides: named }),
  }
}

function pageEntry({ page, groups, components }: WholePage, monitors: Names): Fields {
  const inOrder = components.toSorted(byOrder)
  const entryOf = (component: StoredComponent) => componentEntry(component, monitors)
  const sections = [
    ...inOrder
      .filter(({ groupId }) => groupId === null)
      .map(component => ({ ...component, entry: entryOf(component) })),
    ...groups.map(group => ({
      ...group,
      entry: {
        id: group.id,
        ...concise(storedGroupFields(group), GROUP_DEFAULTS),
        components: inOrder.filter(({ groupId }) => groupId === group.id).map(entryOf),
      },
    })),
  ]
  return {
    id: page.id,
    ...concise(storedPageFields(page), PAGE_DEFAULTS),
    components: sections.toSorted(byOrder).map(({ entry }) => entry),
  }
}

function componentEntry(component: StoredComponent, monitors: Names): Fields {
  const { group, monitor, ...fields } = storedComponentFields(component)
  const shown = { ...fields, monitor: monitor && (monitors.get(monitor as string) ?? monitor) }
  return { id: component.id, ...concise(shown, COMPONENT_DEFAULTS) }
}
