import { listChannels, type StoredChannel } from '../alerts/channel-store.ts'
import { readSettings, type SettingsRow } from '../alerts/settings-store.ts'
import { listRules, type StoredRule } from '../alerts/store.ts'
import type { StoredSubscription } from '../alerts/subscription.ts'
import { subscriptionsOfProjects } from '../alerts/subscription-store.ts'
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

export type WholePage = { page: StoredPage; groups: StoredGroup[]; components: StoredComponent[] }

/** All of a project that a file can say, oldest first. */
export type ProjectState = {
  settings: SettingsRow
  channels: StoredChannel[]
  subscriptions: StoredSubscription[]
  monitors: StoredMonitor[]
  parents: { monitorId: string; parentId: string }[]
  rules: StoredRule[]
  windows: Window[]
  pages: WholePage[]
}

const ALL = { limit: 2_147_483_647, offset: 0 }
const ANY = { type: null, statuses: null, tag: null, text: null }

export async function readProject(db: Db, projectId: string): Promise<ProjectState> {
  return {
    settings: await readSettings(db, projectId),
    channels: (await listChannels(db, projectId, ALL)).rows.reverse(),
    subscriptions: await subscriptionsOfProjects(db, [projectId]),
    monitors: (await listMonitors(db, projectId, ANY, ALL)).reverse(),
    parents: await parentPairs(db, projectId),
    rules: (await listRules(db, projectId, { monitorId: null }, null)).rows.reverse(),
    windows: (await listWindows(db, projectId, ALL)).windows.reverse(),
    pages: await readPages(db, projectId),
  }
}

async function readPages(db: Db, projectId: string): Promise<WholePage[]> {
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
