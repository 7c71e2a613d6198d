import { assertCallerHasAccess } from '../../../accounts/api-keys/actions.ts'
import { requestConfirmations } from '../../../accounts/email/confirmation/actions.ts'
import { assertLateLimits, lockLimitsLate } from '../../../accounts/plans/actions.ts'
import { DEFAULT_DIGEST_SETTINGS } from '../../../alerting/routing/digests/grouping.ts'
import { changeSettings } from '../../../alerting/routing/settings-actions.ts'
import { isDeadlock, query, type Tx, withSetting } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { clearActor } from '../../../foundation/web/auth/audit-actor.ts'
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
  /** the work is done and rolled back */
  isDryRun: boolean
  /** records that the file does not name are deleted, in the sections that it has */
  isPruning: boolean
  /** invalid entries are left out with a warning, for files of other products */
  isLenient: boolean
  /** entries were left out when the file was converted */
  isPartial: boolean
  /** called between two entries; true, for example when the client has disconnected, ends the import, and nothing changes */
  isStopped: (report: ImportReport) => boolean
  /** called near the end of the transaction, with the report */
  onEnd?: (tx: Tx, report: ImportReport) => Promise<unknown>
}

const MAX_ATTEMPTS = 3
const KEEP_ALIVE_INTERVAL_MS = 2_000

/**
 * Makes a project match a file, in one transaction (docs/design/import-export.md#transaction). Throws one error that lists
 * all refusals, and then nothing changes: 400 for invalid values, 404 for unknown records, 402 for the plan, 403 when
 * secrets would go to another origin, 409, and 429 when too many addresses would be asked for confirmation.
 */
export async function importProject(
  tools: ImportTools,
  caller: ApiCaller,
  file: ProjectFile,
  options: ImportOptions,
  now: Date,
): Promise<ImportReport> {
  return await tools.heavyWrites.run(caller.projectId, () => runImport(tools, caller, file, options, now))
}

/** The same without waiting for a turn. */
export async function runImport(
  tools: ImportTools,
  caller: ApiCaller,
  file: ProjectFile,
  { isDryRun, isPruning, isLenient, isPartial, isStopped, onEnd }: ImportOptions,
  now: Date,
): Promise<ImportReport> {
  for (let attempts = 1; ; attempts++) {
    let keepAlive = async () => {}
    const pause = createYieldPoint()
    const report: ImportReport = createImportReport(async () => {
      await pause()
      if (isStopped(report)) throw new ImportStoppedError()
      await keepAlive()
    })
    const work = async (tx: Tx) => {
      await lockForImport(tx, caller.projectId)
      lockLimitsLate(tx, { isDeleting: isPruning })
      keepAlive = createKeepAlive(tx)
      const addresses: string[] = []
      const txTools = { ...tools, db: tx, askLater: (some: string[]) => void addresses.push(...some) }
      const state = await loadProject(tx, caller.projectId)
      await importAll({ tx, tools: txTools, caller, file, state, report, isPruning, isPartial, now })
      if (isLenient) downgradeToWarnings(report, file)
      if (report.refusals.length > 0) throw buildImportError(report.refusals, file)
      await onEnd?.(tx, report)
      await assertLateLimits(tx, caller.organizationId)
      // the import may have waited for minutes
      if (!isDryRun) await assertCallerHasAccess(tx, caller, 'write')
      // last, because creates and invitations of other organizations wait from here on
      await requestConfirmations(tx, tools, caller.organizationId, addresses, { again: false, now })
    }
    try {
      await (isDryRun ? runDryRun(tools, work) : tools.db.transaction(work))
      return report
    } catch (error) {
      if (error instanceof ImportStoppedError) throw validationError([{ path: '', message: STOPPED_MESSAGE }])
      if (!isDeadlock(error) || attempts === MAX_ATTEMPTS) throw error
    }
  }
}

/** Creates a function that keeps the transaction active. PostgreSQL ends it after 10 s without a query, which planning may exceed. */
function createKeepAlive(tx: Tx): () => Promise<void> {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < KEEP_ALIVE_INTERVAL_MS) return
    sinceMs = monotonicMs()
    await query(tx, 'SELECT 1')
  }
}

/** Imports all sections. Records come before the records that refer to them. */
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

function refuseRepeatedIds({ file, report }: ImportRun): void {
  for (const section of SECTIONS) {
    for (const index of findRepeatedIds(file[section] ?? [])) {
      const error = validationError([{ path: 'id', message: 'id duplicates the id of an earlier entry' }])
      report.refusals.push({ path: `${section}[${index}]`, error })
    }
  }
}

const SETTINGS = {
  is_digest_enabled: DEFAULT_DIGEST_SETTINGS.isDigestEnabled,
  digest_threshold: DEFAULT_DIGEST_SETTINGS.digestThreshold,
}

async function importSettings({ tx, caller, file, state, report, now }: ImportRun): Promise<void> {
  if (file.alert_settings === undefined) return
  const { projectId } = caller
  const wanted = { ...SETTINGS, ...file.alert_settings }
  const fields = diffFields({ ...state.settings }, wanted, unmasked => unmasked)
  if (recordUpdate(report, { resource: 'alert_settings', key: 'alert settings', id: projectId, fields })) {
    await changeSettings(tx, projectId, wanted, now)
  }
}

class DryRunRollback extends Error {}
class ImportStoppedError extends Error {}
const STOPPED_MESSAGE = 'the connection was closed before the end of the import; nothing has changed'

/**
 * Does the work and rolls it back, without locks that would delay changes of monitors, and without entries of the audit log, which
 * take most of the time of an insert.
 */
async function runDryRun({ db }: ImportTools, work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await withSetting(db, 'picket.is_rehearsal', 'on').transaction(async tx => {
      await clearActor(tx)
      await work(tx)
      throw new DryRunRollback()
    })
  } catch (error) {
    if (!(error instanceof DryRunRollback)) throw error
  }
}
