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
import { lockMonitors } from '../../../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../../../monitoring/monitors/types.ts'
import { pauseMonitor, resumeMonitor } from '../../../../verdict/core/monitor-lifecycle-actions.ts'
import { toMonitorBody } from '../../fields/monitor-fields.ts'
import type { MonitorEntry } from '../../file/project-file.ts'
import { createReferenceResolver, type ReferenceTarget, type ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, matchBy, matchEntries } from '../matching.ts'
import { changesParents, describeNewMonitor, diffMonitor, diffParents, type PlannedMonitor } from './monitor-plan.ts'

export type ImportedMonitors = {
  planned: PlannedMonitor[]
  find: ResolveReference
  /** of the project, and not of the file */
  unnamed: StoredMonitor[]
}
type DraftedMonitor = PlannedMonitor & { draft: StoredMonitor | null }
type ChangedMonitor = { plan: PlannedMonitor; stored: StoredMonitor; fields: ReturnType<typeof diffMonitor> }

/** The monitors of the file, with those that they depend on. */
export async function importMonitors(run: ImportRun): Promise<ImportedMonitors> {
  const { file, state, report: ledger } = run
  const entries = file.monitors ?? []
  const found = matchEntries(entries, state.monitors, matchBy('name'))
  const unnamed = listUnmatched(state.monitors, found)
  const plans: (DraftedMonitor | null)[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `monitors[${index}]`
    plans.push(await attempt(ledger, place, () => planMonitor(run, entry, found[index] ?? null, place)))
  }
  await storeNew(run, plans)
  const named = entries.map((entry, i) => ({ name: entry.name, id: plans[i]?.id ?? null, writtenId: entry.id }))
  const find = createReferenceResolver('monitor', [...named, ...unnamed, ...listSourceMonitors(run)])
  const planned = plans.filter(plan => plan !== null)
  warnAboutDuplicates(run, planned)
  for (const plan of planned) await resolveParents(run, plan, find)
  await storeChanges(run, planned, run.isPruning && file.monitors ? unnamed : [])
  return { planned, find, unnamed: file.monitors ? unnamed : [] }
}

/** Two monitors may have one name. Mostly somebody copied an entry and forgot to rename it, so it is told. */
function warnAboutDuplicates({ report: ledger }: ImportRun, planned: DraftedMonitor[]): void {
  const seen = new Set<string>()
  for (const { entry, place, draft } of planned) {
    if (draft !== null && entry.id === undefined && seen.has(entry.name)) {
      const message = `an entry before it is called ${entry.name} too; it is made as another monitor`
      ledger.warnings.push({ path: place, message })
    }
    seen.add(entry.name)
  }
}

/** What data sources have made, and what those of the file are still to make: that has no id yet, and is told. */
function listSourceMonitors({ file, state, report: ledger }: ImportRun): ReferenceTarget[] {
  const known = new Set(state.children.map(({ name }) => name))
  const awaited = (file.data_sources ?? []).map(({ monitors = [] }) => monitors.filter(name => !known.has(name)))
  for (const [index, names] of awaited.entries()) {
    if (names.length === 0) continue
    const message = `${names.join(', ')}: not there before the data source is fetched; import again then for what refers to it`
    ledger.warnings.push({ path: `data_sources[${index}].monitors`, message })
  }
  return [...state.children, ...awaited.flat().map(name => ({ name, id: null }))]
}

/** Throws 400 for a new monitor that cannot be. */
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
  { tools, caller, report: ledger, now }: ImportRun,
  entry: MonitorEntry,
): Promise<StoredMonitor> => ({
  ...(await draftMonitor(tools, caller.projectId, toMonitorBody(entry), now, ledger.pause)),
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

const ownParentError = (path: string) => validationError([{ path, message: `${path} is the monitor itself` }])

async function storeChanges(run: ImportRun, planned: DraftedMonitor[], leaving: StoredMonitor[]): Promise<void> {
  const { tx, caller, report: ledger } = run
  const changing: ChangedMonitor[] = []
  for (const plan of planned) {
    const { stored, place } = plan
    const fields = stored && (await attempt(ledger, place, () => diffMonitor(plan, stored, run.tools.secrets)))
    if (stored && fields && recordChange(run, plan, fields)) changing.push({ plan, stored, fields })
  }
  // all at once and in the order of ids, as whoever locks several does
  await lockParents(tx, caller.projectId)
  const locked = await lockMonitors(tx, [...changing.map(({ stored }) => stored.id), ...leaving.map(({ id }) => id)])
  await recordNew(run, planned)
  await storeReplaced(run, changing, new Map(locked.map(monitor => [monitor.id, monitor])))
  for (const { plan, stored, fields } of changing) {
    if ('is_paused' in fields) await attempt(ledger, plan.place, () => setPaused(run, plan, stored))
  }
  await storeParents(run, planned)
}

/** All in one statement: a thousand cost little more than one. */
async function storeReplaced(run: ImportRun, changing: ChangedMonitor[], locked: ReadonlyMap<string, StoredMonitor>) {
  const { tx, tools, caller, report: ledger, now } = run
  const replaced: (MonitorRewrite | null)[] = []
  for (const { plan, stored, fields } of changing) {
    if (Object.keys(fields).every(field => field === 'is_paused')) continue
    const change = () => {
      const monitor = locked.get(stored.id)
      if (!monitor || monitor.deletedAt !== null) throw notFound('monitor')
      return computeReplacement(tools, caller, monitor, toMonitorBody(plan.entry), now, ledger.pause)
    }
    replaced.push(await attempt(ledger, plan.place, change))
  }
  const changes = replaced.filter(change => change !== null)
  await storeRewrites(tools, tx, changes, now)
}

const recordChange = (
  { report: ledger, state }: ImportRun,
  plan: PlannedMonitor,
  fields: ReturnType<typeof diffMonitor>,
) =>
  recordUpdate(ledger, {
    ...{ resource: 'monitor', key: plan.entry.name, id: plan.id },
    fields: { ...fields, ...diffParents(state, plan) },
  })

/** Where they do not fit into the plan, none is there for anything else to refer to. */
async function storeNew({ tx, caller, report: ledger }: ImportRun, plans: (DraftedMonitor | null)[]): Promise<void> {
  const drafts = plans.flatMap(plan => plan?.draft ?? [])
  if (drafts.length === 0) return
  const stored = await attempt(ledger, 'monitors', async () => {
    await addMonitors(tx, caller, drafts)
    return true
  })
  if (stored) return
  for (const [index, plan] of plans.entries()) if (plan?.draft) plans[index] = null
}

async function recordNew({ report: ledger }: ImportRun, planned: DraftedMonitor[]): Promise<void> {
  for (const plan of planned.filter(({ draft }) => draft !== null)) {
    await ledger.pause()
    const fields = describeNewMonitor(plan)
    ledger.changes.push({ action: 'create', resource: 'monitor', key: plan.entry.name, id: null, fields })
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
  { tx, tools, caller, state, report: ledger, now }: ImportRun,
  planned: PlannedMonitor[],
): Promise<void> {
  const moved = planned.filter(plan => changesParents(state, plan))
  const lineages = moved.map(({ id, parentIds }) => ({ monitorId: id, parentIds: parentIds ?? [] }))
  const circular = await replaceParentsOfMonitors(tx, tools.review, caller.projectId, lineages, now)
  for (const { place } of moved.filter(({ id }) => circular.has(id))) {
    ledger.refusals.push({ path: `${place}.parents`, error: createCycleError() })
  }
}
