import { addMonitors, draftMonitor, type Rewritten, storeRewritten } from '../monitors/actions.ts'
import { circle, moveParents } from '../monitors/parent-actions.ts'
import { lockParents } from '../monitors/parent-store.ts'
import { replacedMonitor } from '../monitors/replace-actions.ts'
import { lockMonitors } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { pauseMonitor, resumeMonitor } from '../verdict/actions.ts'
import { notFound, validationError } from '../web/errors.ts'
import type { MonitorEntry } from './document.ts'
import { attempt, noteUpdate } from './ledger.ts'
import { bodyOf } from './monitor-fields.ts'
import {
  monitorDifferences,
  movesParents,
  newMonitorFields,
  type PlannedMonitor,
  parentDifference,
} from './monitor-plan.ts'
import { type Find, finder, type Named } from './names.ts'
import { pairs, sameText, unpaired } from './pairs.ts'
import type { Run } from './run.ts'

export type ImportedMonitors = {
  planned: PlannedMonitor[]
  find: Find
  /** of the project, and not of the file */
  unnamed: StoredMonitor[]
}
type Draft = PlannedMonitor & { draft: StoredMonitor | null }
type Changing = { plan: PlannedMonitor; stored: StoredMonitor; fields: ReturnType<typeof monitorDifferences> }

/** The monitors of the file, with those that they depend on. */
export async function importMonitors(run: Run): Promise<ImportedMonitors> {
  const { file, state, ledger } = run
  const entries = file.monitors ?? []
  const found = pairs(entries, state.monitors, sameText('name'))
  const unnamed = unpaired(state.monitors, found)
  const plans: (Draft | null)[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `monitors[${index}]`
    plans.push(await attempt(ledger, place, () => planOf(run, entry, found[index] ?? null, place)))
  }
  await storeNew(run, plans)
  const named = entries.map((entry, i) => ({ name: entry.name, id: plans[i]?.id ?? null, writtenId: entry.id }))
  const find = finder('monitor', [...named, ...unnamed, ...childrenOf(run)])
  const planned = plans.filter(plan => plan !== null)
  tellTwins(run, planned)
  for (const plan of planned) await findParents(run, plan, find)
  await storeChanges(run, planned, run.isPruning && file.monitors ? unnamed : [])
  return { planned, find, unnamed: file.monitors ? unnamed : [] }
}

/** Two monitors may have one name. Mostly somebody copied an entry and forgot to rename it, so it is told. */
function tellTwins({ ledger }: Run, planned: Draft[]): void {
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
function childrenOf({ file, state, ledger }: Run): Named[] {
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
async function planOf(run: Run, entry: MonitorEntry, stored: StoredMonitor | null, place: string): Promise<Draft> {
  const draft = stored ? null : await draftOf(run, entry)
  return { entry, place, stored, draft, id: (stored ?? draft)!.id, parentIds: null }
}

const draftOf = async ({ tools, caller, ledger, now }: Run, entry: MonitorEntry): Promise<StoredMonitor> => ({
  ...(await draftMonitor(tools, caller.projectId, bodyOf(entry), now, ledger.pause)),
  isPaused: entry.is_paused ?? false,
})

async function findParents(run: Run, plan: PlannedMonitor, find: Find): Promise<void> {
  const { parents } = plan.entry
  if (parents === undefined) return
  const ids = await attempt(run.ledger, plan.place, () =>
    parents.map((name, i) => {
      const id = find(name, `parents[${i}]`)
      if (id === plan.id) throw itsOwn(`parents[${i}]`)
      return id
    }),
  )
  plan.parentIds = ids && [...new Set(ids.filter(id => id !== null))].sort()
}

const itsOwn = (path: string) => validationError([{ path, message: `${path} is the monitor itself` }])

async function storeChanges(run: Run, planned: Draft[], leaving: StoredMonitor[]): Promise<void> {
  const { tx, caller, ledger } = run
  const changing: Changing[] = []
  for (const plan of planned) {
    const { stored, place } = plan
    const fields = stored && (await attempt(ledger, place, () => monitorDifferences(plan, stored, run.tools.secrets)))
    if (stored && fields && isNoted(run, plan, fields)) changing.push({ plan, stored, fields })
  }
  // all at once and in the order of ids, as whoever locks several does
  await lockParents(tx, caller.projectId)
  const locked = await lockMonitors(tx, [...changing.map(({ stored }) => stored.id), ...leaving.map(({ id }) => id)])
  await noteNew(run, planned)
  await storeReplaced(run, changing, new Map(locked.map(monitor => [monitor.id, monitor])))
  for (const { plan, stored, fields } of changing) {
    if ('is_paused' in fields) await attempt(ledger, plan.place, () => setPaused(run, plan, stored))
  }
  await storeParents(run, planned)
}

/** All in one statement: a thousand cost little more than one. */
async function storeReplaced(run: Run, changing: Changing[], locked: ReadonlyMap<string, StoredMonitor>) {
  const { tx, tools, caller, ledger, now } = run
  const replaced: (Rewritten | null)[] = []
  for (const { plan, stored, fields } of changing) {
    if (Object.keys(fields).every(field => field === 'is_paused')) continue
    const change = () => {
      const monitor = locked.get(stored.id)
      if (!monitor || monitor.deletedAt !== null) throw notFound('monitor')
      return replacedMonitor(tools, caller, monitor, bodyOf(plan.entry), now, ledger.pause)
    }
    replaced.push(await attempt(ledger, plan.place, change))
  }
  const changes = replaced.filter(change => change !== null)
  await storeRewritten(tools, tx, changes, now)
}

const isNoted = ({ ledger, state }: Run, plan: PlannedMonitor, fields: ReturnType<typeof monitorDifferences>) =>
  noteUpdate(ledger, {
    ...{ resource: 'monitor', key: plan.entry.name, id: plan.id },
    fields: { ...fields, ...parentDifference(state, plan) },
  })

/** Where they do not fit into the plan, none is there for anything else to refer to. */
async function storeNew({ tx, caller, ledger }: Run, plans: (Draft | null)[]): Promise<void> {
  const drafts = plans.flatMap(plan => plan?.draft ?? [])
  if (drafts.length === 0) return
  const stored = await attempt(ledger, 'monitors', async () => {
    await addMonitors(tx, caller, drafts)
    return true
  })
  if (stored) return
  for (const [index, plan] of plans.entries()) if (plan?.draft) plans[index] = null
}

async function noteNew({ ledger }: Run, planned: Draft[]): Promise<void> {
  for (const plan of planned.filter(({ draft }) => draft !== null)) {
    await ledger.pause()
    const fields = newMonitorFields(plan)
    ledger.changes.push({ action: 'create', resource: 'monitor', key: plan.entry.name, id: null, fields })
  }
}

async function setPaused({ tools, caller, now }: Run, { entry }: PlannedMonitor, stored: StoredMonitor): Promise<void> {
  await (entry.is_paused ? pauseMonitor : resumeMonitor)(tools, caller.projectId, stored.id, now)
}

async function storeParents({ tx, tools, caller, state, ledger, now }: Run, planned: PlannedMonitor[]): Promise<void> {
  const moved = planned.filter(plan => movesParents(state, plan))
  const lineages = moved.map(({ id, parentIds }) => ({ monitorId: id, parentIds: parentIds ?? [] }))
  const circular = await moveParents(tx, tools.review, caller.projectId, lineages, now)
  for (const { place } of moved.filter(({ id }) => circular.has(id))) {
    ledger.refusals.push({ path: `${place}.parents`, error: circle() })
  }
}
