import { ConfigError, type Env } from '../../../../shared/process/env.ts'
import { recordAudit } from '../../../accounts/audit/actions.ts'
import { readOlderSecretKey, readSecretKey } from '../../../config.ts'
import { createSecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import {
  type ReencryptionResult,
  type RotationKeys,
  reencryptColumn,
} from '../../../foundation/platform/crypto/reencrypt.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { type AdminCommand, assertNoArguments } from '../command.ts'
import { ENCRYPTED_COLUMNS } from '../encrypted-columns.ts'
import { replaceCheckValue } from '../key-check-store.ts'

/** Rotation of SECRET_KEY. */
export const SECRET_COMMANDS: Record<string, AdminCommand> = {
  'secrets rotate': {
    summary: 're-encrypt all stored secrets with SECRET_KEY that are still encrypted with SECRET_KEY_OLD',
    details: [
      'Set both keys for every process first. The control plane keeps running. The command may be interrupted and repeated.',
      'When it has finished, remove SECRET_KEY_OLD.',
    ],
    async run({ db, unauditedDb, env }, args) {
      assertNoArguments(args)
      const reencrypted = await rotate(unauditedDb, readRotationKeys(env))
      if (reencrypted > 0) await db.transaction(recordRotation)
      return `${reencrypted} values were re-encrypted; SECRET_KEY alone decrypts everything now`
    },
  },
  'secrets accept-key': {
    summary: 'accept SECRET_KEY as the key of this installation although the previous key is lost',
    details: [
      'Control planes start with it then. Values that it does not decrypt stay lost: `secrets check` lists them.',
      'Deliveries to a channel that is lost end a day later, unless its configuration was entered again.',
    ],
    async run({ db, unauditedDb, env }, args) {
      assertNoArguments(args)
      const secrets = createSecretCipher(readSecretKey(env))
      await unauditedDb.transaction(tx => replaceCheckValue(tx, secrets))
      await db.transaction(recordRotation)
      return 'SECRET_KEY is accepted as the key of this installation'
    },
  },
  'secrets check': {
    summary: 'check whether SECRET_KEY alone decrypts all stored secrets',
    async run({ unauditedDb, env }, args) {
      assertNoArguments(args)
      const key = readSecretKey(env)
      const { ready, lost } = await reencryptAll(unauditedDb, { to: createSecretCipher(key), newKey: key, from: null })
      if (lost.length > 0) throw new Error(formatLost(lost))
      return `SECRET_KEY decrypts all ${ready} encrypted values`
    },
  },
}

const recordRotation = (tx: Tx) =>
  recordAudit(tx, { action: 'rotated', resource: 'secret_key', resourceId: null, resourceName: null })

function readRotationKeys(env: Env): RotationKeys {
  const [newKey, oldKey] = [readSecretKey(env), readOlderSecretKey(env)]
  if (oldKey === null) {
    throw new ConfigError('SECRET_KEY_OLD is not set: SECRET_KEY must be the new key, SECRET_KEY_OLD the previous one')
  }
  return { to: createSecretCipher(newKey), newKey, from: createSecretCipher(oldKey) }
}

/**
 * Repeats until a pass finds nothing, because a process that still encrypts with the previous key may write meanwhile.
 * Returns the number of re-encrypted values. Throws when neither key decrypts some values, after all others are done.
 */
async function rotate(db: Db, keys: RotationKeys): Promise<number> {
  let total = 0
  for (;;) {
    const { reencrypted, lost } = await reencryptAll(db, keys)
    total += reencrypted
    if (reencrypted > 0) continue
    if (lost.length > 0) throw new Error(formatLost(lost))
    return total
  }
}

async function reencryptAll(db: Db, keys: RotationKeys): Promise<ReencryptionResult> {
  const all: ReencryptionResult = { ready: 0, reencrypted: 0, lost: [] }
  for (const column of ENCRYPTED_COLUMNS) {
    const { ready, reencrypted, lost } = await reencryptColumn(db, column, keys)
    all.ready += ready
    all.reencrypted += reencrypted
    all.lost.push(...lost)
  }
  return all
}

const MAX_SHOWN = 20

function formatLost(lost: string[]): string {
  const more = lost.length > MAX_SHOWN ? `\nand ${lost.length - MAX_SHOWN} more` : ''
  return `${lost.length} values cannot be decrypted:\n${lost.slice(0, MAX_SHOWN).join('\n')}${more}`
}
