import type { StoredChannel } from '../../../alerting/routing/alert-channels/store.ts'
import { deleteChannel } from '../../../alerting/routing/alert-channels/store.ts'
import { deleteRule, type StoredRule } from '../../../alerting/routing/rules/rule-store.ts'
import { deleteSubscription } from '../../../alerting/routing/rules/subscription-store.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { deleteComponent } from '../../../pages/admin/components/component-actions.ts'
import { deleteGroup } from '../../../pages/admin/components/group-actions.ts'
import { removePage } from '../../../pages/core/page-store.ts'
import { deleteMonitors } from '../../../verdict/core/monitor-lifecycle-actions.ts'
import { deleteWindow } from '../../../verdict/maintenance/actions.ts'
import type { MaintenanceWindow } from '../../../verdict/maintenance/types.ts'
import { deleteSource } from '../../data-sources/configuration/source-actions.ts'
import type { StoredSource } from '../../data-sources/types.ts'
import { deleteDependency } from '../../vendors/dependencies/dependency-store.ts'
import type { Dependency } from '../../vendors/types.ts'
import type { ResourceKind } from './import-report.ts'
import type { ImportRun } from './import-run.ts'
import type { UnnamedPages } from './resources/page-actions.ts'
import type { UnnamedSections } from './resources/section-actions.ts'

const NOTHING_DELETED =
  'nothing was deleted, because entries of the file were left out: correct or remove these entries, and import again'

/** Records of the project that the file does not name, in the sections that it has. */
type UnnamedRecords = {
  rules: StoredRule[]
  subscriptions: { id: string; alertChannelId: string; alertType: string }[]
  windows: MaintenanceWindow[]
  sources: StoredSource[]
  dependencies: Dependency[]
  pages: UnnamedPages
  monitors: StoredMonitor[]
  channels: StoredChannel[]
}

type Deletion = {
  resource: ResourceKind
  records: { key: string; id: string }[]
  remove: (ids: string[]) => Promise<unknown>
}

/**
 * Deletes or counts records that the file does not name. Monitors and channels come last, because others refer to them. Nothing
 * is deleted when entries were left out: their records exist, and the file names them.
 */
export async function prune(run: ImportRun, unnamed: UnnamedRecords): Promise<void> {
  const { isPruning, isPartial, report } = run
  const isDeleting = isPruning && !isPartial && report.refusals.length === 0
  const deletions = listDeletions(run, unnamed)
  if (isPruning && !isDeleting && deletions.some(({ records }) => records.length > 0))
    report.warnings.push({ path: '', message: NOTHING_DELETED })
  for (const { resource, records, remove } of deletions) {
    if (!isDeleting) {
      run.report.extra += records.length
    } else if (records.length > 0) {
      await remove(records.map(({ id }) => id))
      const deleted = records.map(({ key, id }) => ({ action: 'delete' as const, resource, key, id, fields: {} }))
      run.report.changes.push(...deleted)
    }
  }
}

const listDeletions = (run: ImportRun, unnamed: UnnamedRecords): Deletion[] => [
  ...linkDeletions(run, unnamed),
  ...unnamed.pages.sections.flatMap(sections => sectionDeletions(run, sections)),
  ...recordDeletions(run, unnamed),
]

const oneByOne = (remove: (id: string) => Promise<unknown>) => async (ids: string[]) => {
  for (const id of ids) await remove(id)
}

function linkDeletions({ tx, caller, state }: ImportRun, { rules, subscriptions }: UnnamedRecords): Deletion[] {
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

function sectionDeletions(
  { tx, caller, now }: ImportRun,
  { pageId, slug, groups, components }: UnnamedSections,
): Deletion[] {
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
  { tx, tools, caller, now }: ImportRun,
  { windows, sources, dependencies, pages, monitors, channels }: UnnamedRecords,
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
