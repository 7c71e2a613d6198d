import { groupBy } from '../../../shared/group-by.ts'
import { listChannels, type StoredChannel } from '../../alerting/routing/alert-channels/store.ts'
import type { StoredOverride } from '../../alerting/routing/rules/dependency-override.ts'
import { listOverrides } from '../../alerting/routing/rules/dependency-override-store.ts'
import { listRules, type StoredRule } from '../../alerting/routing/rules/rule-store.ts'
import type { StoredSubscription } from '../../alerting/routing/rules/subscription.ts'
import { listSubscriptionsOfProjects } from '../../alerting/routing/rules/subscription-store.ts'
import { readSettings, type SettingsRow } from '../../alerting/routing/settings-store.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { listMonitors } from '../../monitoring/monitors/listing/list-store.ts'
import { ALL_MONITORS } from '../../monitoring/monitors/listing/monitor-filter.ts'
import { listDependencyPairs } from '../../monitoring/monitors/parents/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { listPageComponents } from '../../pages/core/component-store.ts'
import { listPageGroups } from '../../pages/core/group-store.ts'
import { listProjectPages } from '../../pages/core/page-store.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../../pages/core/records.ts'
import { listWindows } from '../../verdict/maintenance/store.ts'
import type { MaintenanceWindow } from '../../verdict/maintenance/types.ts'
import { listFields } from '../data-sources/configuration/field-store.ts'
import { listSources } from '../data-sources/configuration/source-store.ts'
import type { StoredField, StoredSource } from '../data-sources/types.ts'
import { listDependencies } from '../vendors/dependencies/dependency-store.ts'
import type { Dependency } from '../vendors/types.ts'
import { buildReferences } from './file/references.ts'

export type PageState = { page: StoredPage; groups: StoredGroup[]; components: StoredComponent[] }

export type SourceState = { source: StoredSource; fields: StoredField[] }

/** The records of a project that a file can contain, oldest first. */
export type ProjectState = {
  settings: SettingsRow
  channels: StoredChannel[]
  subscriptions: StoredSubscription[]
  monitors: StoredMonitor[]
  /** monitors of data sources, which only their source changes */
  children: StoredMonitor[]
  /** sorted ids of parents, by the id of the monitor */
  parents: ReadonlyMap<string, string[]>
  /** by the id of the monitor */
  rules: ReadonlyMap<string, StoredRule[]>
  windows: MaintenanceWindow[]
  sources: SourceState[]
  dependencies: Dependency[]
  overrides: StoredOverride[]
  pages: PageState[]
  /** references by id */
  names: { monitors: ReadonlyMap<string, string>; channels: ReadonlyMap<string, string> }
}

const ALL = { limit: 2_147_483_647, offset: 0 }

export async function loadProject(db: Db, projectId: string): Promise<ProjectState> {
  const monitors = (await listMonitors(db, projectId, ALL_MONITORS, ALL)).reverse()
  const dependencies = (await listDependencies(db, projectId, ALL)).rows.reverse()
  const dependencyIds = dependencies.map(({ id }) => id)
  const channels = (await listChannels(db, projectId, ALL)).rows.reverse()
  const parents = groupBy(await listDependencyPairs(db, projectId), ({ monitorId }) => monitorId)
  const rules = (await listRules(db, projectId, { monitorId: null }, null)).rows.reverse()
  return {
    settings: await readSettings(db, projectId),
    channels,
    subscriptions: await listSubscriptionsOfProjects(db, [projectId]),
    monitors: monitors.filter(({ dataSource }) => dataSource === null),
    children: monitors.filter(({ dataSource }) => dataSource !== null),
    parents: new Map([...parents].map(([id, pairs]) => [id, pairs.map(({ parentId }) => parentId).sort()])),
    rules: groupBy(rules, ({ monitorId }) => monitorId),
    windows: (await listWindows(db, projectId, ALL)).windows.reverse(),
    sources: await loadSources(db, projectId),
    dependencies,
    overrides: await listOverrides(db, dependencyIds),
    pages: await loadPages(db, projectId),
    names: { monitors: buildReferences(monitors), channels: buildReferences(channels) },
  }
}

/** The project with only the records that have this id. The names of the others stay, because a record can refer to them. */
export function selectRecord(state: ProjectState, id: string): ProjectState {
  const select = <T extends { id: string }>(records: readonly T[]) => records.filter(record => record.id === id)
  return {
    ...state,
    channels: select(state.channels),
    monitors: select(state.monitors),
    windows: select(state.windows),
    sources: state.sources.filter(({ source }) => source.id === id),
    dependencies: select(state.dependencies),
    pages: state.pages.filter(({ page }) => page.id === id),
  }
}

async function loadSources(db: Db, projectId: string): Promise<SourceState[]> {
  const sources = (await listSources(db, projectId, null)).sources.reverse()
  const ids = sources.map(({ id }) => id)
  const fields = groupBy(await listFields(db, ids), ({ dataSourceId }) => dataSourceId)
  return sources.map(source => ({ source, fields: fields.get(source.id) ?? [] }))
}

async function loadPages(db: Db, projectId: string): Promise<PageState[]> {
  const pages: PageState[] = []
  for (const page of await listProjectPages(db, projectId)) {
    pages.push({
      page,
      groups: await listPageGroups(db, page.id),
      components: await listPageComponents(db, page.id),
    })
  }
  return pages
}
