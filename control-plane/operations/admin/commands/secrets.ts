import { ConfigError, type Env } from '../../../../shared/process/env.ts'
import { recordAudit } from '../../../accounts/audit/actions.ts'
import { readOlderSecretKey, readSecretKey } from '../../../config.ts'
import { createSecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import {
  type ReencryptionResult,
  type RotationKeys,
  reencryptColumn,
} from '../../../foundation/platform/crypto/reencrypt.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type AdminCommand, assertNoArguments } from '../command.ts'
import { ENCRYPTED_COLUMNS } from '../encrypted-columns.ts'

/** What is sealed with SECRET_KEY. */
export const SECRET_COMMANDS: Record<string, AdminCommand> = {
  'secrets rotate': {
    summary: 'seals all that is stored sealed with SECRET_KEY, where it still is with SECRET_KEY_OLD',
    details: [
      'Set both for every process first. It may be stopped at any moment and begun again, and the control plane goes on',
      'meanwhile. When it says so, SECRET_KEY_OLD can be taken away.',
    ],
    async run({ db, unauditedDb, env }, args) {
      assertNoArguments(args)
      const resealed = await rotate(unauditedDb, readRotationKeys(env))
      if (resealed > 0) {
        await db.transaction(tx =>
          recordAudit(tx, { action: 'rotated', resource: 'secret_key', resourceId: null, resourceName: null }),
        )
      }
      return `${resealed} values were sealed anew; SECRET_KEY alone opens everything now`
    },
  },
  'secrets check': {
    summary: 'says whether SECRET_KEY alone opens everything that is stored',
    async run({ unauditedDb, env }, args) {
      assertNoArguments(args)
      const key = readSecretKey(env)
      const { ready, lost } = await reencryptAll(unauditedDb, { to: createSecretCipher(key), newKey: key, from: null })
      if (lost.length > 0) throw new Error(formatLost(lost))
      return `SECRET_KEY opens all ${ready} sealed values`
    },
  },
}

function readRotationKeys(env: Env): RotationKeys {
  const [newKey, oldKey] = [readSecretKey(env), readOlderSecretKey(env)]
  if (oldKey === null) {
    throw new ConfigError('SECRET_KEY_OLD is not set: SECRET_KEY has to be the new key, SECRET_KEY_OLD the one before')
  }
  return { to: createSecretCipher(newKey), newKey, from: createSecretCipher(oldKey) }
}

/**
 * Until a pass finds nothing: a process that still seals with the key before writes behind our back. Answers how many
 * values were sealed anew. Throws a sentence when some are opened by neither key, with all others done.
 */
async function rotate(db: Db, keys: RotationKeys): Promise<number> {
  let total = 0
  for (;;) {
    const { resealed, lost } = await reencryptAll(db, keys)
    total += resealed
    if (resealed > 0) continue
    if (lost.length > 0) throw new Error(formatLost(lost))
    return total
  }
}

async function reencryptAll(db: Db, keys: RotationKeys): Promise<ReencryptionResult> {
  const all: ReencryptionResult = { ready: 0, resealed: 0, lost: [] }
  for (const column of ENCRYPTED_COLUMNS) {
    const { ready, resealed, lost } = await reencryptColumn(db, column, keys)
    all.ready += ready
    all.resealed += resealed
    all.lost.push(...lost)
  }
  return all
}

const MAX_SHOWN = 20

function formatLost(lost: string[]): string {
  const more = lost.length > MAX_SHOWN ? `\nand ${lost.length - MAX_SHOWN} more` : ''
  return `${lost.length} values do not open:\n${lost.slice(0, MAX_SHOWN).join('\n')}${more}`
}
