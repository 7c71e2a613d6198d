import { groupBy } from '../../shared/group-by.ts'
import { listChannels, type StoredChannel } from '../alerts/channel-store.ts'
import type { StoredOverride } from '../alerts/override.ts'
import { overridesOfDependencies } from '../alerts/override-store.ts'
import { readSettings, type SettingsRow } from '../alerts/settings-store.ts'
import { listRules, type StoredRule } from '../alerts/store.ts'
import type { StoredSubscription } from '../alerts/subscription.ts'
import { subscriptionsOfProjects } from '../alerts/subscription-store.ts'
import { fieldsOfSources } from '../data-sources/field-store.ts'
import { listSources } from '../data-sources/store.ts'
import type { StoredField, StoredSource } from '../data-sources/types.ts'
import { listWindows } from '../maintenance/store.ts'
import type { Window } from '../maintenance/types.ts'
import { parentPairs } from '../monitors/parent-store.ts'
import { listMonitors } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Db } from '../platform/postgres.ts'
import { componentsOfPage } from '../status-pages/component-store.ts'
import { groupsOfPage } from '../status-pages/group-store.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../status-pages/records.ts'
import { pagesOfProject } from '../status-pages/store.ts'
import { listDependencies } from '../vendors/store.ts'
import type { Dependency } from '../vendors/types.ts'
import { referencesTo } from './names.ts'

export type WholePage = { page: StoredPage; groups: StoredGroup[]; components: StoredComponent[] }

export type WholeSource = { source: StoredSource; fields: StoredField[] }

/** All of a project that a file can say, oldest first. */
export type ProjectState = {
  settings: SettingsRow
  channels: StoredChannel[]
  subscriptions: StoredSubscription[]
  monitors: StoredMonitor[]
  /** those that data sources have made: nothing but their source decides what they are */
  children: StoredMonitor[]
  /** ids by the id of the monitor that depends on them, in the order of ids */
  parents: ReadonlyMap<string, string[]>
  /** by the id of their monitor */
  rules: ReadonlyMap<string, StoredRule[]>
  windows: Window[]
  sources: WholeSource[]
  dependencies: Dependency[]
  overrides: StoredOverride[]
  pages: WholePage[]
  /** how a file refers to each, by its id */
  names: { monitors: ReadonlyMap<string, string>; channels: ReadonlyMap<string, string> }
}

const ALL = { limit: 2_147_483_647, offset: 0 }
const ANY = { type: null, statuses: null, tag: null, text: null }

export async function readProject(db: Db, projectId: string): Promise<ProjectState> {
  const monitors = (await listMonitors(db, projectId, ANY, ALL)).reverse()
  const dependencies = (await listDependencies(db, projectId, ALL)).rows.reverse()
  const dependencyIds = dependencies.map(({ id }) => id)
  const channels = (await listChannels(db, projectId, ALL)).rows.reverse()
  const parents = groupBy(await parentPairs(db, projectId), ({ monitorId }) => monitorId)
  const rules = (await listRules(db, projectId, { monitorId: null }, null)).rows.reverse()
  return {
    settings: await readSettings(db, projectId),
    channels,
    subscriptions: await subscriptionsOfProjects(db, [projectId]),
    monitors: monitors.filter(({ dataSource }) => dataSource === null),
    children: monitors.filter(({ dataSource }) => dataSource !== null),
    parents: new Map([...parents].map(([id, pairs]) => [id, pairs.map(({ parentId }) => parentId).sort()])),
    rules: groupBy(rules, ({ monitorId }) => monitorId),
    windows: (await listWindows(db, projectId, ALL)).windows.reverse(),
    sources: await readSources(db, projectId),
    dependencies,
    overrides: await overridesOfDependencies(db, dependencyIds),
    pages: await readPages(db, projectId),
    names: { monitors: referencesTo(monitors), channels: referencesTo(channels) },
  }
}

async function readSources(db: Db, projectId: string): Promise<WholeSource[]> {
  const sources = (await listSources(db, projectId, null)).sources.reverse()
  const ids = sources.map(({ id }) => id)
  const fields = groupBy(await fieldsOfSources(db, ids), ({ dataSourceId }) => dataSourceId)
  return sources.map(source => ({ source, fields: fields.get(source.id) ?? [] }))
}

export async function readPages(db: Db, projectId: string): Promise<WholePage[]> {
  const whole: WholePage[] = []
  for (const page of await pagesOfProject(db, projectId)) {
    whole.push({
      page,
      groups: await groupsOfPage(db, page.id),
      components: await componentsOfPage(db, page.id),
    })
  }
  return whole
}
