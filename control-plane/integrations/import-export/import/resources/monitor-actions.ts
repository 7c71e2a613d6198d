import { notFound, validationError } from '../../../../foundation/web/server/errors.ts'
import {
  addMonitors,
  draftMonitor,
  type MonitorRewrite,
  storeRewrites,
} from '../../../../monitoring/monitors/actions.ts'
import { createCycleError, replaceParentsOfMonitors } from '../../../../monitoring/monitors/parents/actions.ts'
import { lockParents } from '../../../../monitoring/monitors/parents/store.ts'
import { computeReplacement } from '../../../../monitoring/monitors/settings/replace-actions.ts'
import { lockMonitors, moveHeartbeatDeadlines } from '../../../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../../../monitoring/monitors/types.ts'
import { pauseMonitor, resumeMonitor } from '../../../../verdict/core/monitor-lifecycle-actions.ts'
import { toMonitorBody } from '../../fields/monitor-fields.ts'
import type { MonitorEntry } from '../../file/project-file.ts'
import { createReferenceResolver, type ReferenceTarget, type ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { lockPagesAndWindows } from '../lock-store.ts'
import { listUnmatched, matchBy, matchEntries } from '../matching.ts'
import { changesParents, describeNewMonitor, diffMonitor, diffParents, type PlannedMonitor } from './monitor-plan.ts'

type ImportedMonitors = {
  planned: PlannedMonitor[]
  find: ResolveReference
  /** monitors that the file does not name */
  unnamed: StoredMonitor[]
}
type DraftedMonitor = PlannedMonitor & { draft: StoredMonitor | null }
type ChangedMonitor = { plan: PlannedMonitor; stored: StoredMonitor; fields: ReturnType<typeof diffMonitor> }

/** Imports monitors with their parents. */
export async function importMonitors(run: ImportRun): Promise<ImportedMonitors> {
  const { file, state, report } = run
  const entries = file.monitors ?? []
  const found = matchEntries(entries, state.monitors, matchBy('name'))
  const unnamed = listUnmatched(state.monitors, found)
  const plans: (DraftedMonitor | null)[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `monitors[${index}]`
    plans.push(await attempt(report, place, () => planMonitor(run, entry, found[index] ?? null, place)))
  }
  await storeNew(run, plans)
  const named = entries.map((entry, i) => ({ name: entry.name, id: plans[i]?.id ?? null, writtenId: entry.id }))
  const ofSources = listSourceMonitors(run)
  const find = createReferenceResolver('monitor', [...named, ...ofSources.named], [...unnamed, ...ofSources.others])
  const planned = plans.filter(plan => plan !== null)
  warnAboutDuplicates(run, planned)
  for (const plan of planned) await resolveParents(run, plan, find)
  await storeChanges(run, planned, run.isPruning && file.monitors ? unnamed : [])
  return { planned, find, unnamed: file.monitors ? unnamed : [] }
}

/** Warns about new monitors with the name of an earlier entry, which is usually a copy that was not renamed. */
function warnAboutDuplicates({ report }: ImportRun, planned: DraftedMonitor[]): void {
  const seen = new Set<string>()
  for (const { entry, place, draft } of planned) {
    if (draft !== null && entry.id === undefined && seen.has(entry.name)) {
      const message = `an earlier entry is also named ${entry.name}; another monitor is created`
      report.warnings.push({ path: place, message })
    }
    seen.add(entry.name)
  }
}

/**
 * Lists the monitors of data sources: those that the file names, and others. Those that do not exist yet have no id and get
 * a warning.
 */
function listSourceMonitors({ file, state, report }: ImportRun) {
  const known = new Set(state.children.map(({ name }) => name))
  const written = (file.data_sources ?? []).map(({ monitors = [] }) => monitors)
  const expected = written.map(monitors => monitors.filter(name => !known.has(name)))
  for (const [index, names] of expected.entries()) {
    if (names.length === 0) continue
    const message = `${names.join(', ')}: does not exist until the data source is fetched; import again after that to add what refers to it`
    report.warnings.push({ path: `data_sources[${index}].monitors`, message })
  }
  const missing: ReferenceTarget[] = expected.flat().map(name => ({ name, id: null }))
  const inFile = new Set(written.flat())
  const isNamed = ({ name }: ReferenceTarget) => inFile.has(name)
  return {
    named: [...state.children.filter(isNamed), ...missing],
    others: state.children.filter(child => !isNamed(child)),
  }
}

/** Plans the import of a monitor. Throws 400 for an invalid new monitor. */
async function planMonitor(
  run: ImportRun,
  entry: MonitorEntry,
  stored: StoredMonitor | null,
  place: string,
): Promise<DraftedMonitor> {
  const draft = stored ? null : await draftNewMonitor(run, entry)
  return { entry, place, stored, draft, id: (stored ?? draft)!.id, parentIds: null }
}

const draftNewMonitor = async (
  { tools, caller, report, now }: ImportRun,
  entry: MonitorEntry,
): Promise<StoredMonitor> => ({
  ...(await draftMonitor(tools, caller.projectId, toMonitorBody(entry), now, report.pause)),
  isPaused: entry.is_paused ?? false,
})

async function resolveParents(run: ImportRun, plan: PlannedMonitor, find: ResolveReference): Promise<void> {
  const { parents } = plan.entry
  if (parents === undefined) return
  const ids = await attempt(run.report, plan.place, () =>
    parents.map((name, i) => {
      const id = find(name, `parents[${i}]`)
      if (id === plan.id) throw ownParentError(`parents[${i}]`)
      return id
    }),
  )
  plan.parentIds = ids && [...new Set(ids.filter(id => id !== null))].sort()
}

const ownParentError = (path: string) =>
  validationError([{ path, message: `${path}: a monitor cannot depend on itself` }])

async function storeChanges(run: ImportRun, planned: DraftedMonitor[], deleted: StoredMonitor[]): Promise<void> {
  const { tx, caller, report } = run
  const changing: ChangedMonitor[] = []
  for (const plan of planned) {
    const { stored, place } = plan
    const fields = stored && (await attempt(report, place, () => diffMonitor(plan, stored, run.tools.secrets)))
    if (stored && fields && recordChange(run, plan, fields)) changing.push({ plan, stored, fields })
  }
  if (changesPagesOrWindows(run)) await lockPagesAndWindows(tx, caller.projectId)
  // all in one statement and in the order of ids, as all code that locks several monitors does
  await lockParents(tx, caller.projectId)
  const locked = await lockMonitors(tx, [...changing.map(({ stored }) => stored.id), ...deleted.map(({ id }) => id)])
  await recordNew(run, planned)
  await storeReplaced(run, changing, new Map(locked.map(monitor => [monitor.id, monitor])))
  for (const { plan, stored, fields } of changing) {
    if ('is_paused' in fields) await attempt(report, plan.place, () => setPaused(run, plan, stored))
  }
  await storeParents(run, planned)
}

/** A file of monitors and channels alone delays no change of a page or window. */
const changesPagesOrWindows = ({ file, isPruning }: ImportRun): boolean =>
  isPruning || [file.maintenance_windows, file.data_sources, file.dependencies, file.status_pages].some(Boolean)

/** Stores all changes in one statement. */
async function storeReplaced(run: ImportRun, changing: ChangedMonitor[], locked: ReadonlyMap<string, StoredMonitor>) {
  const { tx, tools, caller, report, now } = run
  const replaced: (MonitorRewrite | null)[] = []
  for (const { plan, stored, fields } of changing) {
    if (Object.keys(fields).every(field => field === 'is_paused')) continue
    const change = () => {
      const monitor = locked.get(stored.id)
      if (!monitor || monitor.deletedAt !== null) throw notFound('monitor')
      return computeReplacement(tools, caller, monitor, toMonitorBody(plan.entry), now, report.pause)
    }
    replaced.push(await attempt(report, plan.place, change))
  }
  const changes = replaced.filter(change => change !== null)
  await storeRewrites(tools, tx, changes, now)
  await moveHeartbeatDeadlines(tx, changes.map(toDeadlineMove))
}

/** A file can change interval and grace of a heartbeat, which an update cannot. */
const toDeadlineMove = ({ stored, monitor }: MonitorRewrite) => ({
  id: monitor.id,
  seconds: sumAllowed(monitor) - sumAllowed(stored),
  allowed: sumAllowed(monitor),
})

const sumAllowed = ({ heartbeatInterval, heartbeatGrace }: StoredMonitor) =>
  (heartbeatInterval ?? 0) + (heartbeatGrace ?? 0)

const recordChange = ({ report, state }: ImportRun, plan: PlannedMonitor, fields: ReturnType<typeof diffMonitor>) =>
  recordUpdate(report, {
    ...{ resource: 'monitor', key: plan.entry.name, id: plan.id },
    fields: { ...fields, ...diffParents(state, plan) },
  })

/** Stores new monitors. When they exceed the limit of the plan, none is stored or can be referred to. */
async function storeNew({ tx, caller, report }: ImportRun, plans: (DraftedMonitor | null)[]): Promise<void> {
  const drafts = plans.flatMap(plan => plan?.draft ?? [])
  if (drafts.length === 0) return
  const stored = await attempt(report, 'monitors', async () => {
    await addMonitors(tx, caller, drafts)
    return true
  })
  if (stored) return
  for (const [index, plan] of plans.entries()) if (plan?.draft) plans[index] = null
}

async function recordNew({ report }: ImportRun, planned: DraftedMonitor[]): Promise<void> {
  for (const plan of planned.filter(({ draft }) => draft !== null)) {
    await report.pause()
    const fields = describeNewMonitor(plan)
    report.changes.push({ action: 'create', resource: 'monitor', key: plan.entry.name, id: null, fields })
  }
}

async function setPaused(
  { tools, caller, now }: ImportRun,
  { entry }: PlannedMonitor,
  stored: StoredMonitor,
): Promise<void> {
  await (entry.is_paused ? pauseMonitor : resumeMonitor)(tools, caller.projectId, stored.id, now)
}

async function storeParents(
  { tx, tools, caller, state, report, now }: ImportRun,
  planned: PlannedMonitor[],
): Promise<void> {
  const moved = planned.filter(plan => changesParents(state, plan))
  const parentLists = moved.map(({ id, parentIds }) => ({ monitorId: id, parentIds: parentIds ?? [] }))
  const circular = await replaceParentsOfMonitors(tx, tools.review, caller.projectId, parentLists, now)
  for (const { place } of moved.filter(({ id }) => circular.has(id))) {
    report.refusals.push({ path: `${place}.parents`, error: createCycleError() })
  }
}
