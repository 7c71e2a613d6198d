import { groupBy } from '../../../shared/group-by.ts'
import type { StoredOverride } from '../../alerting/routing/rules/dependency-override.ts'
import { mapInChunks } from '../../foundation/platform/concurrency/collect.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { YieldPoint } from '../../foundation/platform/time/clock.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { compareDisplayOrder } from '../../pages/core/display-order.ts'
import type { StoredComponent } from '../../pages/core/records.ts'
import type { MaintenanceWindow } from '../../verdict/maintenance/types.ts'
import type { Dependency } from '../vendors/types.ts'
import {
  CHANNEL_DEFAULTS,
  maskChannelFields,
  RULE_DEFAULTS,
  toStoredChannelFields,
  toStoredRuleFields,
} from './fields/channel-fields.ts'
import {
  getDependencyDefaults,
  OVERRIDE_DEFAULTS,
  toDependencyFields,
  toOverrideFields,
} from './fields/dependency-fields.ts'
import { omitDefaults, type RecordFields } from './fields/fields.ts'
import { MONITOR_DEFAULTS, maskMonitorFields, toStoredMonitorFields } from './fields/monitor-fields.ts'
import {
  COMPONENT_DEFAULTS,
  GROUP_DEFAULTS,
  PAGE_DEFAULTS,
  toStoredComponentFields,
  toStoredGroupFields,
  toStoredPageFields,
} from './fields/page-fields.ts'
import { maskSourceFields, SOURCE_DEFAULTS, toFieldEntry, toStoredSourceFields } from './fields/source-fields.ts'
import { createWindowDisplay, isInExport, toStoredWindowFields } from './fields/window-fields.ts'
import { FORMAT_VERSION, type ProjectFile } from './file/project-file.ts'
import type { PageState, ProjectState, SourceState } from './project-reader.ts'

type Names = ReadonlyMap<string, string>

/**
 * Exports a project, oldest records first, without secrets and without values that equal their defaults. Yields between
 * records, because a project may have any number of them.
 */
export async function exportProject(
  state: ProjectState,
  secrets: SecretCipher,
  hasEnded: (window: MaintenanceWindow) => boolean,
  isHidden: boolean,
  pause: YieldPoint,
): Promise<ProjectFile> {
  const { monitors, channels } = state.names
  const { is_digest_enabled, digest_threshold } = state.settings
  const subscriptions = groupBy(state.subscriptions, ({ alertChannelId }) => alertChannelId)
  const children = groupBy(state.children, ({ dataSource }) => dataSource?.id ?? '')
  const overrides = groupBy(state.overrides, ({ dependencyId }) => dependencyId)
  const windows = state.windows.filter(isInExport)
  const each = <T, R>(records: readonly T[], toEntry: (record: T) => R) => mapInChunks(records, toEntry, pause)
  const file = {
    version: FORMAT_VERSION,
    alert_settings: { is_digest_enabled, digest_threshold },
    alert_channels: await each(state.channels, channel => ({
      id: channel.id,
      ...omitDefaults(maskChannelFields(toStoredChannelFields(channel, secrets), isHidden), CHANNEL_DEFAULTS),
      subscriptions: (subscriptions.get(channel.id) ?? []).map(({ alertType }) => alertType).sort(),
    })),
    monitors: await each(state.monitors, monitor => ({
      id: monitor.id,
      ...omitDefaults(maskMonitorFields(toStoredMonitorFields(monitor, secrets)), MONITOR_DEFAULTS),
      ...toParents(state, monitor.id, monitors),
      rules: toRuleEntries(state, monitor.id, channels),
    })),
    maintenance_windows: (
      await each(windows, window => (hasEnded(window) ? [] : toWindowEntry(window, monitors)))
    ).flat(),
    data_sources: await each(state.sources, source =>
      toSourceEntry(source, children.get(source.source.id) ?? [], secrets),
    ),
    dependencies: await each(state.dependencies, dependency =>
      toDependencyEntry(dependency, overrides.get(dependency.id) ?? [], channels),
    ),
    status_pages: await each(state.pages, page => toPageEntry(page, monitors)),
  }
  return file as unknown as ProjectFile
}

/** Only the sections with records. Returns null without any. */
export function dropEmptySections({ version, alert_settings: _, ...sections }: ProjectFile): ProjectFile | null {
  const full = Object.entries(sections).filter(([, records]) => records.length > 0)
  return full.length === 0 ? null : { version, ...Object.fromEntries(full) }
}

const toWindowEntry = (window: MaintenanceWindow, monitors: Names): RecordFields => ({
  id: window.id,
  ...omitDefaults(createWindowDisplay(monitors)(toStoredWindowFields(window)), {}),
})

function toParents(state: ProjectState, id: string, names: Names): RecordFields {
  const parents = state.parents.get(id) ?? []
  return parents.length === 0 ? {} : { parents: parents.map(parentId => names.get(parentId) ?? parentId).sort() }
}

const toRuleEntries = (state: ProjectState, id: string, names: Names): RecordFields[] =>
  (state.rules.get(id) ?? []).map(rule => ({
    channel: names.get(rule.alertChannelId) ?? rule.alertChannelId,
    ...omitDefaults(toStoredRuleFields(rule), RULE_DEFAULTS),
  }))

function toSourceEntry(
  { source, fields }: SourceState,
  children: StoredMonitor[],
  secrets: SecretCipher,
): RecordFields {
  return {
    id: source.id,
    ...omitDefaults(maskSourceFields(toStoredSourceFields(source, secrets)), SOURCE_DEFAULTS),
    fields: fields.map(toFieldEntry),
    ...(children.length > 0 && { monitors: children.map(({ name }) => name) }),
  }
}

function toDependencyEntry(dependency: Dependency, overrides: StoredOverride[], channels: Names): RecordFields {
  const named = toOverrideFields(overrides).map(({ channel, ...on }) => ({
    channel: channels.get(channel as string) ?? channel,
    ...omitDefaults(on, OVERRIDE_DEFAULTS),
  }))
  return {
    id: dependency.id,
    ...omitDefaults(toDependencyFields(dependency), getDependencyDefaults(dependency.slug)),
    ...(named.length > 0 && { overrides: named }),
  }
}

function toPageEntry({ page, groups, components }: PageState, monitors: Names): RecordFields {
  const inOrder = components.toSorted(compareDisplayOrder)
  const inside = groupBy(inOrder, ({ groupId }) => groupId)
  const toEntry = (component: StoredComponent) => toComponentEntry(component, monitors)
  const sections = [
    ...(inside.get(null) ?? []).map(component => ({ ...component, entry: toEntry(component) })),
    ...groups.map(group => ({
      ...group,
      entry: {
        id: group.id,
        ...omitDefaults(toStoredGroupFields(group), GROUP_DEFAULTS),
        components: (inside.get(group.id) ?? []).map(toEntry),
      },
    })),
  ]
  return {
    id: page.id,
    ...omitDefaults(toStoredPageFields(page), PAGE_DEFAULTS),
    components: sections.toSorted(compareDisplayOrder).map(({ entry }) => entry),
  }
}

function toComponentEntry(component: StoredComponent, monitors: Names): RecordFields {
  const { group, monitor, ...fields } = toStoredComponentFields(component)
  const shown = { ...fields, monitor: monitor && (monitors.get(monitor as string) ?? monitor) }
  return { id: component.id, ...omitDefaults(shown, COMPONENT_DEFAULTS) }
}
