import { isEnrolledWith } from '../../probe-agent/fleet/credential.ts'
import { type InstallationState, writeInstallationState } from '../processes/installation-state.ts'
import { runAdminCommand } from '../processes/programs.ts'
import { isListedAsEnrolled } from './listed-probes.ts'
import { buildProbeDir, buildProbeName, LOCAL_REGIONS, type LocalSettings } from './settings.ts'

type DatabaseState = InstallationState['databases'][string]

/** A password for `email` is set at `claim_url`. */
export type LocalAccount = { email: string; api_key: string; claim_url: string }

/** Creates the first account of a database. Its key and link are returned only once and not stored. */
export async function createFirstAccount(
  settings: LocalSettings,
  state: InstallationState,
  env: Record<string, string>,
): Promise<LocalAccount | null> {
  const database = getDatabaseState(settings, state)
  if (database.hasAccount) return null
  const account = await bootstrap('admin@picket.local', env).catch((error: Error) => {
    // the database was used with another DATA_DIR before
    if (/registered/.test(error.message)) return null
    throw error
  })
  database.hasAccount = true
  writeInstallationState(settings.dataDir, state)
  return account
}

/** The API key of the demo's account, which is stored for the next start. */
export async function ensureDemoAccount(
  settings: LocalSettings,
  state: InstallationState,
  env: Record<string, string>,
  runAdmin = runAdminCommand,
): Promise<string> {
  const database = getDatabaseState(settings, state)
  if (database.demoKey && !database.isDemoKeyDoubted) return database.demoKey
  const account = await bootstrap('demo@picket.local', env, runAdmin).catch((error: Error) => {
    // the database was not created again: its account has the stored key
    if (database.demoKey && /registered/.test(error.message)) return { api_key: database.demoKey }
    throw error
  })
  database.demoKey = account.api_key
  delete database.isDemoKeyDoubted
  writeInstallationState(settings.dataDir, state)
  return database.demoKey
}

/** One enrolment token per region; a new one if the probe has lost its credential, or the database does not have it or has revoked it. */
export async function ensureProbeTokens(
  settings: LocalSettings,
  state: InstallationState,
  env: Record<string, string>,
  runAdmin = runAdminCommand,
): Promise<Record<string, string>> {
  const database = getDatabaseState(settings, state)
  const { probeTokens: tokens } = database
  const hasTokens = Object.keys(tokens).length > 0
  const listed = hasTokens ? await runAdmin(['probe', 'list'], env) : ''
  if (hasTokens && listed === '') doubtAccounts(database)
  const isEnrolled = (region: string, token: string) =>
    isEnrolledWith(buildProbeDir(settings, region), token) && isListedAsEnrolled(listed, buildProbeName(region))
  const missing = LOCAL_REGIONS.filter(region => !isEnrolled(region, tokens[region] ?? ''))
  const made = await Promise.all(missing.map(region => runAdmin(['probe-token', 'create', '--region', region], env)))
  missing.forEach((region, i) => {
    tokens[region] = made[i] ?? ''
  })
  if (missing.length > 0) writeInstallationState(settings.dataDir, state)
  return tokens
}

/** A database without any of the probes was created again and has no accounts, or only its probes were deleted, and it still has its accounts. */
function doubtAccounts(database: DatabaseState): void {
  delete database.hasAccount
  if (database.demoKey) database.isDemoKeyDoubted = true
}

async function bootstrap(
  email: string,
  env: Record<string, string>,
  runAdmin = runAdminCommand,
): Promise<LocalAccount> {
  return JSON.parse(await runAdmin(['bootstrap', '--email', email], env))
}

function getDatabaseState(settings: LocalSettings, state: InstallationState): DatabaseState {
  const url = settings.databaseUrl ? new URL(settings.databaseUrl) : null
  const name = url ? `${url.host}${url.pathname}` : 'embedded'
  state.databases[name] ??= { probeTokens: {} }
  return state.databases[name]
}
