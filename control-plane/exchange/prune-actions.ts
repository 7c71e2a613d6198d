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
import { deleteMonitor } from '../verdict/actions.ts'
import type { Resource } from './ledger.ts'
import { referencesTo } from './names.ts'
import type { UnnamedPages } from './page-actions.ts'
import type { Run } from './run.ts'

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

type Deletion = { resource: Resource; key: string; id: string; remove: () => Promise<unknown> }

/** Deletes what the file does not name, or counts it. Monitors and channels last: others hang on them. */
export async function prune(run: Run, unnamed: Unnamed): Promise<void> {
  for (const { resource, key, id, remove } of deletionsOf(run, unnamed)) {
    if (run.isPruning) {
      await remove()
      run.ledger.changes.push({ action: 'delete', resource, key, id, fields: {} })
    } else run.ledger.extra++
  }
}

function deletionsOf(run: Run, unnamed: Unnamed): Deletion[] {
  return [...linkDeletions(run, unnamed), ...pageDeletions(run, unnamed.pages), ...recordDeletions(run, unnamed)]
}

function linkDeletions({ tx, caller, state }: Run, { rules, subscriptions }: Unnamed): Deletion[] {
  const { projectId } = caller
  const monitors = referencesTo(state.monitors)
  const channels = referencesTo(state.channels)
  return [
    ...rules.map(({ id, monitorId, alertChannelId }) => ({
      resource: 'alert_rule' as const,
      key: `${monitors.get(monitorId)} → ${channels.get(alertChannelId)}`,
      id,
      remove: () => deleteRule(tx, projectId, id),
    })),
    ...subscriptions.map(({ id, alertChannelId, alertType }) => ({
      resource: 'alert_subscription' as const,
      key: `${channels.get(alertChannelId)} → ${alertType}`,
      id,
      remove: () => deleteSubscription(tx, projectId, id),
    })),
  ]
}

function pageDeletions({ tx, caller, now }: Run, { pages, sections }: UnnamedPages): Deletion[] {
  const { projectId } = caller
  return [
    ...sections.flatMap(({ pageId, slug, groups, components }) => [
      ...components.map(({ id, name }) => ({
        resource: 'status_page_component' as const,
        key: `${slug} / ${name}`,
        id,
        remove: () => deleteComponent(tx, projectId, pageId, id, now),
      })),
      ...groups.map(({ id, name }) => ({
        resource: 'status_page_group' as const,
        key: `${slug} / ${name}`,
        id,
        remove: () => deleteGroup(tx, projectId, pageId, id, now),
      })),
    ]),
    ...pages.map(({ id, slug }) => ({
      resource: 'status_page' as const,
      key: slug,
      id,
      remove: () => removePage(tx, projectId, id),
    })),
  ]
}

function recordDeletions(
  { tx, tools, caller, now }: Run,
  { windows, sources, dependencies, monitors, channels }: Unnamed,
): Deletion[] {
  const { projectId } = caller
  return [
    ...windows.map(({ id, title }) => ({
      resource: 'maintenance_window' as const,
      key: title,
      id,
      remove: () => deleteWindow(tools, projectId, id, now),
    })),
    ...sources.map(({ id, name }) => ({
      resource: 'data_source' as const,
      key: name,
      id,
      remove: () => deleteSource(tools, projectId, id, now),
    })),
    ...dependencies.map(({ id, name }) => ({
      resource: 'dependency' as const,
      key: name,
      id,
      remove: () => deleteDependency(tx, projectId, id),
    })),
    ...monitors.map(({ id, name }) => ({
      resource: 'monitor' as const,
      key: name,
      id,
      remove: () => deleteMonitor(tools, projectId, id, now),
    })),
    ...channels.map(({ id, name }) => ({
      resource: 'alert_channel' as const,
      key: name,
      id,
      remove: () => deleteChannel(tx, projectId, id),
    })),
  ]
}
