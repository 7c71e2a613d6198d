import { groupBy } from '../../shared/group-by.ts'
import type { StoredOverride } from '../alerts/override.ts'
import type { Window } from '../maintenance/types.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Pause } from '../platform/clock.ts'
import { collectEach } from '../platform/collect.ts'
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

/**
 * A project as a file: without secrets, without what is as it would be without being said, oldest records first. It pauses
 * between records: a project may have any number.
 */
export async function exportProject(
  state: ProjectState,
  secrets: Secrets,
  hasEnded: (window: Window) => boolean,
  isHidden: boolean,
  pause: Pause,
): Promise<ProjectFile> {
  const { monitors, channels } = state.names
  const { is_digest_enabled, digest_threshold } = state.settings
  const subscriptions = groupBy(state.subscriptions, ({ alertChannelId }) => alertChannelId)
  const children = groupBy(state.children, ({ dataSource }) => dataSource?.id ?? '')
  const overrides = groupBy(state.overrides, ({ dependencyId }) => dependencyId)
  const windows = state.windows.filter(({ monitorIds }) => monitorIds.length > 0)
  const each = <T, R>(records: readonly T[], entryOf: (record: T) => R) => collectEach(records, entryOf, pause)
  const file = {
    version: FORMAT_VERSION,
    alert_settings: { is_digest_enabled, digest_threshold },
    alert_channels: await each(state.channels, channel => ({
      id: channel.id,
      ...concise(showChannel(storedChannelFields(channel, secrets), isHidden), CHANNEL_DEFAULTS),
      subscriptions: (subscriptions.get(channel.id) ?? []).map(({ alertType }) => alertType).sort(),
    })),
    monitors: await each(state.monitors, monitor => ({
      id: monitor.id,
      ...concise(showMonitor(storedMonitorFields(monitor, secrets)), MONITOR_DEFAULTS),
      ...parentsOf(state, monitor.id, monitors),
      rules: rulesOf(state, monitor.id, channels),
    })),
    maintenance_windows: (
      await each(windows, window => (hasEnded(window) ? [] : windowEntry(window, monitors)))
    ).flat(),
    data_sources: await each(state.sources, whole => sourceEntry(whole, children.get(whole.source.id) ?? [], secrets)),
    dependencies: await each(state.dependencies, dependency =>
      dependencyEntry(dependency, overrides.get(dependency.id) ?? [], channels),
    ),
    status_pages: await each(state.pages, whole => pageEntry(whole, monitors)),
  }
  return file as unknown as ProjectFile
}

const windowEntry = (window: Window, monitors: Names): Fields => ({
  id: window.id,
  ...concise(showWindow(monitors)(storedWindowFields(window)), {}),
})

function parentsOf(state: ProjectState, id: string, names: Names): Fields {
  const parents = state.parents.get(id) ?? []
  return parents.length === 0 ? {} : { parents: parents.map(parentId => names.get(parentId) ?? parentId).sort() }
}

const rulesOf = (state: ProjectState, id: string, names: Names): Fields[] =>
  (state.rules.get(id) ?? []).map(rule => ({
    channel: names.get(rule.alertChannelId) ?? rule.alertChannelId,
    ...concise(ruleFields(rule), RULE_DEFAULTS),
  }))

function sourceEntry({ source, fields }: WholeSource, made: StoredMonitor[], secrets: Secrets): Fields {
  return {
    id: source.id,
    ...concise(showSource(storedSourceFields(source, secrets)), SOURCE_DEFAULTS),
    fields: fields.map(storedFieldEntry),
    ...(made.length > 0 && { monitors: made.map(({ name }) => name) }),
  }
}

function dependencyEntry(dependency: Dependency, overrides: StoredOverride[], channels: Names): Fields {
  const mine = overrideFields(overrides)
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
  const inside = groupBy(inOrder, ({ groupId }) => groupId)
  const entryOf = (component: StoredComponent) => componentEntry(component, monitors)
  const sections = [
    ...(inside.get(null) ?? []).map(component => ({ ...component, entry: entryOf(component) })),
    ...groups.map(group => ({
      ...group,
      entry: {
        id: group.id,
        ...concise(storedGroupFields(group), GROUP_DEFAULTS),
        components: (inside.get(group.id) ?? []).map(entryOf),
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
