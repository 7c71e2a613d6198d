import type { StoredChannel } from '../alerts/channel-store.ts'
import { deleteChannel } from '../alerts/channel-store.ts'
import { deleteRule, type StoredRule } from '../alerts/store.ts'
import { deleteSubscription } from '../alerts/subscription-store.ts'
import { deleteSource } from '../data-sources/actions.ts'
import type { StoredSource } from '../data-sources/types.ts'
import { deleteWindow } from '../maintenance/actions.ts'
import type { Window } from '../maintenance/types.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { deleteComponent } from '../status-pages/component-actions.ts'
import { deleteGroup } from '../status-pages/group-actions.ts'
import { removePage } from '../status-pages/store.ts'
import { deleteDependency } from '../vendors/store.ts'
import type { Dependency } from '../vendors/types.ts'
import { deleteMonitors } from '../verdict/actions.ts'
import type { Resource } from './ledger.ts'
import type { UnnamedPages } from './page-actions.ts'
import type { Run } from './run.ts'
import type { Sections } from './section-actions.ts'

/** All that the project has in the sections of the file, and the file has not. */
export type Unnamed = {
  rules: StoredRule[]
  subscriptions: { id: string; alertChannelId: string; alertType: string }[]
  windows: Window[]
  sources: StoredSource[]
  dependencies: Dependency[]
  pages: UnnamedPages
  monitors: StoredMonitor[]
  channels: StoredChannel[]
}

type Deletion = {
  resource: Resource
  records: { key: string; id: string }[]
  remove: (ids: string[]) => Promise<unknown>
}

/** Deletes what the file does not name, or counts it. Monitors and channels last: others hang on them. */
export async function prune(run: Run, unnamed: Unnamed): Promise<void> {
  for (const { resource, records, remove } of deletionsOf(run, unnamed)) {
    if (!run.isPruning) {
      run.ledger.extra += records.length
    } else if (records.length > 0) {
      await remove(records.map(({ id }) => id))
      const deleted = records.map(({ key, id }) => ({ action: 'delete' as const, resource, key, id, fields: {} }))
      run.ledger.changes.push(...deleted)
    }
  }
}

const deletionsOf = (run: Run, unnamed: Unnamed): Deletion[] => [
  ...linkDeletions(run, unnamed),
  ...unnamed.pages.sections.flatMap(sections => sectionDeletions(run, sections)),
  ...recordDeletions(run, unnamed),
]

const oneByOne = (remove: (id: string) => Promise<unknown>) => async (ids: string[]) => {
  for (const id of ids) await remove(id)
}

function linkDeletions({ tx, caller, state }: Run, { rules, subscriptions }: Unnamed): Deletion[] {
  const { projectId } = caller
  const { monitors, channels } = state.names
  return [
    {
      resource: 'alert_rule',
      records: rules.map(({ id, monitorId, alertChannelId }) => ({
        ...{ id, key: `${monitors.get(monitorId)} → ${channels.get(alertChannelId)}` },
      })),
      remove: oneByOne(id => deleteRule(tx, projectId, id)),
    },
    {
      resource: 'alert_subscription',
      records: subscriptions.map(({ id, alertChannelId, alertType }) => ({
        ...{ id, key: `${channels.get(alertChannelId)} → ${alertType}` },
      })),
      remove: oneByOne(id => deleteSubscription(tx, projectId, id)),
    },
  ]
}

function sectionDeletions({ tx, caller, now }: Run, { pageId, slug, groups, components }: Sections): Deletion[] {
  const { projectId } = caller
  const inPage = ({ id, name }: { id: string; name: string }) => ({ id, key: `${slug} / ${name}` })
  return [
    {
      resource: 'status_page_component',
      records: components.map(inPage),
      remove: oneByOne(id => deleteComponent(tx, projectId, pageId, id, now)),
    },
    {
      resource: 'status_page_group',
      records: groups.map(inPage),
      remove: oneByOne(id => deleteGroup(tx, projectId, pageId, id, now)),
    },
  ]
}

function recordDeletions(
  { tx, tools, caller, now }: Run,
  { windows, sources, dependencies, pages, monitors, channels }: Unnamed,
): Deletion[] {
  const { projectId } = caller
  const named = ({ id, name }: { id: string; name: string }) => ({ id, key: name })
  return [
    {
      resource: 'status_page',
      records: pages.pages.map(({ id, slug }) => ({ id, key: slug })),
      remove: oneByOne(id => removePage(tx, projectId, id)),
    },
    {
      resource: 'maintenance_window',
      records: windows.map(({ id, title }) => ({ id, key: title })),
      remove: oneByOne(id => deleteWindow(tools, projectId, id, now)),
    },
    {
      resource: 'data_source',
      records: sources.map(named),
      remove: oneByOne(id => deleteSource(tools, projectId, id, now)),
    },
    {
      resource: 'dependency',
      records: dependencies.map(named),
      remove: oneByOne(id => deleteDependency(tx, projectId, id)),
    },
    {
      resource: 'monitor',
      records: monitors.map(named),
      remove: ids => deleteMonitors(tools, projectId, ids, now),
    },
    {
      resource: 'alert_channel',
      records: channels.map(named),
      remove: oneByOne(id => deleteChannel(tx, projectId, id)),
    },
  ]
}
