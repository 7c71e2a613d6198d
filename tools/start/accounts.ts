import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type InstallationState, writeInstallationState } from '../processes/data-dir.ts'
import { runAdminCommand } from '../processes/programs.ts'
import { buildProbeDir, LOCAL_REGIONS, type LocalSettings } from './settings.ts'

type DatabaseState = InstallationState['databases'][string]

/** `email` signs in with the password that is set at `claim_url`. */
export type LocalAccount = { email: string; api_key: string; claim_url: string }

/** Makes the first account of a database; its key and link are given on that first start only and kept nowhere. */
export async function createFirstAccount(
  settings: LocalSettings,
  keep: InstallationState,
  env: Record<string, string>,
): Promise<LocalAccount | null> {
  const database = getDatabaseState(settings, keep)
  if (database.hasAccount) return null
  const account = await bootstrap('admin@picket.local', env).catch((error: Error) => {
    // a database that another DATA_DIR has used before
    if (/registered/.test(error.message)) return null
    throw error
  })
  database.hasAccount = true
  writeInstallationState(settings.dataDir, keep)
  return account
}

/** The API key of the account that the demo uses, kept for its next start. */
export async function ensureDemoAccount(
  settings: LocalSettings,
  keep: InstallationState,
  env: Record<string, string>,
): Promise<string> {
  const database = getDatabaseState(settings, keep)
  if (!database.demoKey) {
    database.demoKey = (await bootstrap('demo@picket.local', env)).api_key
    writeInstallationState(settings.dataDir, keep)
  }
  return database.demoKey
}

/** An enrolment token a region; a new one where its probe has lost what it was known by. */
export async function ensureProbeTokens(
  settings: LocalSettings,
  keep: InstallationState,
  env: Record<string, string>,
): Promise<Record<string, string>> {
  const { probeTokens: tokens } = getDatabaseState(settings, keep)
  const isEnrolled = (region: string) => existsSync(join(buildProbeDir(settings, region), 'credential.json'))
  const missing = LOCAL_REGIONS.filter(region => !tokens[region] || !isEnrolled(region))
  const made = await Promise.all(
    missing.map(region => runAdminCommand(['probe-token', 'create', '--region', region], env)),
  )
  missing.forEach((region, i) => {
    tokens[region] = made[i] ?? ''
  })
  if (missing.length > 0) writeInstallationState(settings.dataDir, keep)
  return tokens
}

async function bootstrap(email: string, env: Record<string, string>): Promise<LocalAccount> {
  return JSON.parse(await runAdminCommand(['bootstrap', '--email', email], env))
}

function getDatabaseState(settings: LocalSettings, keep: InstallationState): DatabaseState {
  const url = settings.databaseUrl ? new URL(settings.databaseUrl) : null
  const name = url ? `${url.host}${url.pathname}` : 'embedded'
  keep.databases[name] ??= { probeTokens: {} }
  return keep.databases[name]
}
