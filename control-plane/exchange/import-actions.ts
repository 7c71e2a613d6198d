import { askAddresses } from '../accounts/addresses/actions.ts'
import { DEFAULT_SETTINGS } from '../alerts/grouping.ts'
import { changeSettings } from '../alerts/settings-actions.ts'
import { createPauses, monotonicMs } from '../platform/clock.ts'
import { isDeadlock, query, type Tx, withSetting } from '../platform/postgres.ts'
import type { Caller } from '../web/auth.ts'
import { validationError } from '../web/errors.ts'
import { importChannels } from './channel-actions.ts'
import { importDependencies } from './dependency-actions.ts'
import type { ProjectFile } from './document.ts'
import { differences } from './fields.ts'
import { type Ledger, leaveOut, newLedger, noteUpdate, refusalOf } from './ledger.ts'
import { importMonitors } from './monitor-actions.ts'
import { importPages } from './page-actions.ts'
import { repeatedIds } from './pairs.ts'
import { prune } from './prune-actions.ts'
import { importRules } from './rule-actions.ts'
import type { ImportTools, Run } from './run.ts'
import { importSources } from './source-actions.ts'
import { readProject } from './state-reader.ts'
import { lockForImport } from './store.ts'
import { importWindows } from './window-actions.ts'

export type ImportOptions = {
  /** everything is done as it would be, and taken back */
  isDryRun: boolean
  /** what the file does not name is deleted, in the sections that it has */
  isPruning: boolean
  /** what cannot be is left out with a warning, as of a file that nobody wrote for Picket */
  isLenient: boolean
  /** whether the client has left: then nothing is changed */
  hasLeft: () => boolean
}

const MOST_TRIES = 3
const KEEP_ALIVE_EVERY_MS = 2_000

/**
 * Makes a project what a file says, in one transaction. Throws one error that names all that was refused, and then
 * nothing is changed: 400 for what the file says, 404 for what it names and is not there, 402 for the plan, 403 where
 * secrets would go elsewhere, 409, and 429 when too many addresses would be asked to confirm.
 */
export async function importProject(
  tools: ImportTools,
  caller: Caller,
  file: ProjectFile,
  options: ImportOptions,
  now: Date,
): Promise<Ledger> {
  return await tools.heavyWrites.run(caller.projectId, () => importInTurn(tools, caller, file, options, now))
}

async function importInTurn(
  tools: ImportTools,
  caller: Caller,
  file: ProjectFile,
  { isDryRun, isPruning, isLenient, hasLeft }: ImportOptions,
  now: Date,
): Promise<Ledger> {
  for (let tries = 1; ; tries++) {
    let keepAlive = async () => {}
    const pause = createPauses()
    const ledger = newLedger(async () => {
      await pause()
      if (hasLeft()) throw new Left()
      await keepAlive()
    })
    const work = async (tx: Tx) => {
      await lockForImport(tx, caller.projectId)
      keepAlive = keptAlive(tx)
      const addresses: string[] = []
      const inside = { ...tools, db: tx, askLater: (some: string[]) => void addresses.push(...some) }
      const state = await readProject(tx, caller.projectId)
      await importAll({ tx, tools: inside, caller, file, state, ledger, isPruning, now })
      if (isLenient) leaveOut(ledger)
      if (ledger.refusals.length > 0) throw refusalOf(ledger.refusals, file)
      // last: from here on creates and invitations of other organizations wait
      await askAddresses(tx, tools, caller.organizationId, addresses, { again: false, now })
    }
    try {
      await (isDryRun ? rehearse(tools, work) : tools.db.transaction(work))
      return ledger
    } catch (error) {
      if (error instanceof Left) throw validationError([{ path: '', message: LEFT }])
      if (!isDeadlock(error) || tries === MOST_TRIES) throw error
    }
  }
}

/** PostgreSQL ends a transaction that is silent for 10 s; planning thousands of entries next to other long work may take that long. */
function keptAlive(tx: Tx): () => Promise<void> {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < KEEP_ALIVE_EVERY_MS) return
    sinceMs = monotonicMs()
    await query(tx, 'SELECT 1')
  }
}

/** What others refer to comes before them. */
async function importAll(run: Run): Promise<void> {
  refuseRepeatedIds(run)
  await importSettings(run)
  const monitors = await importMonitors(run)
  const channels = await importChannels(run)
  const rules = await importRules(run, monitors.planned, channels.find)
  const windows = await importWindows(run, monitors.find)
  const sources = await importSources(run)
  const dependencies = await importDependencies(run, channels.find)
  const pages = await importPages(run, monitors.find)
  const links = { rules, subscriptions: channels.subscriptions }
  const records = { windows, sources, dependencies, monitors: monitors.unnamed, channels: channels.unnamed }
  await prune(run, { ...links, pages, ...records })
}

const SECTIONS = [
  'alert_channels',
  'monitors',
  'maintenance_windows',
  'data_sources',
  'dependencies',
  'status_pages',
] as const

function refuseRepeatedIds({ file, ledger }: Run): void {
  for (const section of SECTIONS) {
    for (const index of repeatedIds(file[section] ?? [])) {
      const error = validationError([{ path: 'id', message: 'id is that of an entry before' }])
      ledger.refusals.push({ path: `${section}[${index}]`, error })
    }
  }
}

const SETTINGS = {
  is_digest_enabled: DEFAULT_SETTINGS.isDigestEnabled,
  digest_threshold: DEFAULT_SETTINGS.digestThreshold,
}

async function importSettings({ tx, caller, file, state, ledger, now }: Run): Promise<void> {
  if (file.alert_settings === undefined) return
  const { projectId } = caller
  const wanted = { ...SETTINGS, ...file.alert_settings }
  const fields = differences({ ...state.settings }, wanted, asIs => asIs)
  if (noteUpdate(ledger, { resource: 'alert_settings', key: 'alert settings', id: projectId, fields })) {
    await changeSettings(tx, projectId, wanted, now)
  }
}

class TakenBack extends Error {}
class Left extends Error {}
const LEFT = 'the connection was closed before the import was done; nothing was changed'

/** Does the work and takes it back; nobody who changes a monitor meanwhile waits for it. */
async function rehearse({ db }: ImportTools, work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await withSetting(db, 'picket.is_rehearsal', 'on').transaction(async tx => {
      await work(tx)
      throw new TakenBack()
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error
  }
}
