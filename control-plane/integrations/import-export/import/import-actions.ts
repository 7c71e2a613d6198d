import { requestConfirmations } from '../../../accounts/email/confirmation/actions.ts'
import { DEFAULT_DIGEST_SETTINGS } from '../../../alerting/routing/digests/grouping.ts'
import { changeSettings } from '../../../alerting/routing/settings-actions.ts'
import { isDeadlock, query, type Tx, withSetting } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { diffFields } from '../fields/fields.ts'
import type { ProjectFile } from '../file/project-file.ts'
import { loadProject } from '../project-reader.ts'
import {
  buildImportError,
  createImportReport,
  downgradeToWarnings,
  type ImportReport,
  recordUpdate,
} from './import-report.ts'
import type { ImportRun, ImportTools } from './import-run.ts'
import { lockForImport } from './lock-store.ts'
import { findRepeatedIds } from './matching.ts'
import { prune } from './prune-actions.ts'
import { importChannels } from './resources/channel-actions.ts'
import { importDependencies } from './resources/dependency-actions.ts'
import { importMonitors } from './resources/monitor-actions.ts'
import { importPages } from './resources/page-actions.ts'
import { importRules } from './resources/rule-actions.ts'
import { importSources } from './resources/source-actions.ts'
import { importWindows } from './resources/window-actions.ts'

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

const MAX_ATTEMPTS = 3
const KEEP_ALIVE_INTERVAL_MS = 2_000

/**
 * Makes a project what a file says, in one transaction. Throws one error that names all that was refused, and then
 * nothing is changed: 400 for what the file says, 404 for what it names and is not there, 402 for the plan, 403 where
 * secrets would go elsewhere, 409, and 429 when too many addresses would be asked to confirm.
 */
export async function importProject(
  tools: ImportTools,
  caller: ApiCaller,
  file: ProjectFile,
  options: ImportOptions,
  now: Date,
): Promise<ImportReport> {
  return await tools.heavyWrites.run(caller.projectId, () => importWithRetries(tools, caller, file, options, now))
}

async function importWithRetries(
  tools: ImportTools,
  caller: ApiCaller,
  file: ProjectFile,
  { isDryRun, isPruning, isLenient, hasLeft }: ImportOptions,
  now: Date,
): Promise<ImportReport> {
  for (let tries = 1; ; tries++) {
    let keepAlive = async () => {}
    const pause = createYieldPoint()
    const ledger = createImportReport(async () => {
      await pause()
      if (hasLeft()) throw new ClientDisconnected()
      await keepAlive()
    })
    const work = async (tx: Tx) => {
      await lockForImport(tx, caller.projectId)
      keepAlive = createKeepAlive(tx)
      const addresses: string[] = []
      const inside = { ...tools, db: tx, askLater: (some: string[]) => void addresses.push(...some) }
      const state = await loadProject(tx, caller.projectId)
      await importAll({ tx, tools: inside, caller, file, state, report: ledger, isPruning, now })
      if (isLenient) downgradeToWarnings(ledger)
      if (ledger.refusals.length > 0) throw buildImportError(ledger.refusals, file)
      // last: from here on creates and invitations of other organizations wait
      await requestConfirmations(tx, tools, caller.organizationId, addresses, { again: false, now })
    }
    try {
      await (isDryRun ? runDryRun(tools, work) : tools.db.transaction(work))
      return ledger
    } catch (error) {
      if (error instanceof ClientDisconnected) throw validationError([{ path: '', message: DISCONNECTED_MESSAGE }])
      if (!isDeadlock(error) || tries === MAX_ATTEMPTS) throw error
    }
  }
}

/** PostgreSQL ends a transaction that is silent for 10 s; planning thousands of entries next to other long work may take that long. */
function createKeepAlive(tx: Tx): () => Promise<void> {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < KEEP_ALIVE_INTERVAL_MS) return
    sinceMs = monotonicMs()
    await query(tx, 'SELECT 1')
  }
}

/** What others refer to comes before them. */
async function importAll(run: ImportRun): Promise<void> {
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

function refuseRepeatedIds({ file, report: ledger }: ImportRun): void {
  for (const section of SECTIONS) {
    for (const index of findRepeatedIds(file[section] ?? [])) {
      const error = validationError([{ path: 'id', message: 'id is that of an entry before' }])
      ledger.refusals.push({ path: `${section}[${index}]`, error })
    }
  }
}

const SETTINGS = {
  is_digest_enabled: DEFAULT_DIGEST_SETTINGS.isDigestEnabled,
  digest_threshold: DEFAULT_DIGEST_SETTINGS.digestThreshold,
}

async function importSettings({ tx, caller, file, state, report: ledger, now }: ImportRun): Promise<void> {
  if (file.alert_settings === undefined) return
  const { projectId } = caller
  const wanted = { ...SETTINGS, ...file.alert_settings }
  const fields = diffFields({ ...state.settings }, wanted, asIs => asIs)
  if (recordUpdate(ledger, { resource: 'alert_settings', key: 'alert settings', id: projectId, fields })) {
    await changeSettings(tx, projectId, wanted, now)
  }
}

class DryRunRollback extends Error {}
class ClientDisconnected extends Error {}
const DISCONNECTED_MESSAGE = 'the connection was closed before the import was done; nothing was changed'

/** Does the work and takes it back; nobody who changes a monitor meanwhile waits for it. */
async function runDryRun({ db }: ImportTools, work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await withSetting(db, 'picket.is_rehearsal', 'on').transaction(async tx => {
      await work(tx)
      throw new DryRunRollback()
    })
  } catch (error) {
    if (!(error instanceof DryRunRollback)) throw error
  }
}
