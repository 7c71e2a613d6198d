import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOlderSecretKey, readSecretKey } from '../../control-plane/config.ts'
import { generateOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { writeDurably } from '../../shared/process/durable-file.ts'
import { ConfigError } from '../../shared/process/env.ts'
import { StartError } from '../start/settings.ts'

/** The stored state of a local installation, readable only by its owner. */
export type InstallationState = {
  secretKey: string
  /** keys that a later one replaced; a backup may need them */
  earlierSecretKeys?: string[]
  postgresPassword: string
  /** operator seed of the embedded NATS */
  natsOperatorSeed: string
  /** by database, so that another DATABASE_URL gets its own account and tokens */
  databases: Record<string, DatabaseState>
}

type DatabaseState = {
  hasAccount?: boolean
  probeTokens: Record<string, string>
  demoKey?: string
  /** the database may have been created again, without the account of the key */
  isDemoKeyDoubted?: boolean
}

const buildStatePath = (dataDir: string) => join(dataDir, 'keep.json')

/**
 * Reads the state, after creating what is missing. A stored key is never replaced by another one, except for a rotation, in
 * which SECRET_KEY_OLD is the stored key; the replaced key stays in the file.
 */
export function readInstallationState(dataDir: string, env: NodeJS.ProcessEnv): InstallationState {
  const kept = parseStoredState(buildStatePath(dataDir))
  const state = {
    ...kept,
    ...chooseSecretKey(kept, dataDir, env),
    postgresPassword: kept.postgresPassword ?? randomBytes(24).toString('base64url'),
    natsOperatorSeed: kept.natsOperatorSeed ?? generateOperatorSeed(),
    databases: kept.databases ?? {},
  }
  writeInstallationState(dataDir, state)
  return state
}

/** Writes the file when it does not contain this state already. */
export function writeInstallationState(dataDir: string, state: InstallationState): void {
  const file = buildStatePath(dataDir)
  const text = `${JSON.stringify(state, null, 2)}\n`
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeDurably(file, text)
}

function parseStoredState(file: string): Partial<InstallationState> {
  if (!existsSync(file)) return {}
  try {
    const state = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof state === 'object' && state !== null) return state
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new StartError(
    `${file} is damaged. It has the keys of this installation: restore it from a backup, or set DATA_DIR to a new folder.`,
  )
}

type SecretKeys = Pick<InstallationState, 'secretKey' | 'earlierSecretKeys'>

function chooseSecretKey(kept: Partial<InstallationState>, dataDir: string, env: NodeJS.ProcessEnv): SecretKeys {
  const { secretKey: stored, earlierSecretKeys = [] } = kept
  const given = readGivenKeys(env)
  if (stored === undefined) return { secretKey: given.secretKey ?? randomBytes(32).toString('base64') }
  if (given.secretKey === null || given.secretKey === stored) return { secretKey: stored }
  if (given.older === stored) {
    return { secretKey: given.secretKey, earlierSecretKeys: [...earlierSecretKeys, stored] }
  }
  throw new StartError(
    `SECRET_KEY is not the key in ${buildStatePath(dataDir)}, which encrypts the secrets of this installation. Start without SECRET_KEY, or set DATA_DIR to a folder for the other key. To replace the stored key, set SECRET_KEY_OLD to it as well ("A new SECRET_KEY" in docs/deployment.md).`,
  )
}

/** Checks the keys before one of them is stored. */
function readGivenKeys(env: NodeJS.ProcessEnv): { secretKey: string | null; older: string | null } {
  try {
    const older = readOlderSecretKey(env)?.toString('base64') ?? null
    return { secretKey: env.SECRET_KEY ? readSecretKey(env).toString('base64') : null, older }
  } catch (error) {
    if (error instanceof ConfigError) throw new StartError(`${error.message}.`)
    throw error
  }
}
