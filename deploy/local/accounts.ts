import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Keep, writeKeep } from './data-dir.ts'
import { admin } from './programs.ts'
import { LOCAL_REGIONS, probeDir, type Settings } from './settings.ts'

type DatabaseKeep = Keep['databases'][string]

/** `email` signs in with the password that is set at `claim_url`. */
export type Account = { email: string; api_key: string; claim_url: string }

/** Makes the first account of a database; its key and link are given on that first start only and kept nowhere. */
export async function firstAccount(
  settings: Settings,
  keep: Keep,
  env: Record<string, string>,
): Promise<Account | null> {
  const database = keepOf(settings, keep)
  if (database.hasAccount) return null
  const account = await bootstrap('admin@picket.local', env).catch((error: Error) => {
    // a database that another DATA_DIR has used before
    if (/registered/.test(error.message)) return null
    throw error
  })
  database.hasAccount = true
  writeKeep(settings.dataDir, keep)
  return account
}

/** The API key of the account that the demo uses, kept for its next start. */
export async function demoAccount(settings: Settings, keep: Keep, env: Record<string, string>): Promise<string> {
  const database = keepOf(settings, keep)
  if (!database.demoKey) {
    database.demoKey = (await bootstrap('demo@picket.local', env)).api_key
    writeKeep(settings.dataDir, keep)
  }
  return database.demoKey
}

/** An enrolment token a region; a new one where its probe has lost what it was known by. */
export async function probeTokens(
  settings: Settings,
  keep: Keep,
  env: Record<string, string>,
): Promise<Record<string, string>> {
  const { probeTokens: tokens } = keepOf(settings, keep)
  const isEnrolled = (region: string) => existsSync(join(probeDir(settings, region), 'credential.json'))
  const missing = LOCAL_REGIONS.filter(region => !tokens[region] || !isEnrolled(region))
  const made = await Promise.all(missing.map(region => admin(['probe-token', 'create', '--region', region], env)))
  missing.forEach((region, i) => {
    tokens[region] = made[i] ?? ''
  })
  if (missing.length > 0) writeKeep(settings.dataDir, keep)
  return tokens
}

async function bootstrap(email: string, env: Record<string, string>): Promise<Account> {
  return JSON.parse(await admin(['bootstrap', '--email', email], env))
}

function keepOf(settings: Settings, keep: Keep): DatabaseKeep {
  const url = settings.databaseUrl ? new URL(settings.databaseUrl) : null
  const name = url ? `${url.host}${url.pathname}` : 'embedded'
  keep.databases[name] ??= { probeTokens: {} }
  return keep.databases[name]
}
