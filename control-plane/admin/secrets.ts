import { ConfigError, type Env } from '../../shared/env.ts'
import { recordAct } from '../accounts/audit/actions.ts'
import { olderSecretKey, secretKey } from '../config.ts'
import type { Db } from '../platform/postgres.ts'
import { type Keys, type Resealed, resealColumn } from '../platform/reseal.ts'
import { createSecrets } from '../platform/secrets.ts'
import { type Command, none } from './command.ts'
import { SEALED_COLUMNS } from './sealed-columns.ts'

/** What is sealed with SECRET_KEY. */
export const SECRET_COMMANDS: Record<string, Command> = {
  'secrets rotate': {
    does: 'seals all that is stored sealed with SECRET_KEY, where it still is with SECRET_KEY_OLD',
    more: [
      'Set both for every process first. It may be stopped at any moment and begun again, and the control plane goes on',
      'meanwhile. When it says so, SECRET_KEY_OLD can be taken away.',
    ],
    async run({ db, quietDb, env }, args) {
      none(args)
      const resealed = await rotate(quietDb, keysOf(env))
      if (resealed > 0) {
        await db.transaction(tx =>
          recordAct(tx, { action: 'rotated', resource: 'secret_key', resourceId: null, resourceName: null }),
        )
      }
      return `${resealed} values were sealed anew; SECRET_KEY alone opens everything now`
    },
  },
  'secrets check': {
    does: 'says whether SECRET_KEY alone opens everything that is stored',
    async run({ quietDb, env }, args) {
      none(args)
      const key = secretKey(env)
      const { ready, lost } = await passOver(quietDb, { to: createSecrets(key), newKey: key, from: null })
      if (lost.length > 0) throw new Error(lostSentence(lost))
      return `SECRET_KEY opens all ${ready} sealed values`
    },
  },
}

function keysOf(env: Env): Keys {
  const [newKey, oldKey] = [secretKey(env), olderSecretKey(env)]
  if (oldKey === null) {
    throw new ConfigError('SECRET_KEY_OLD is not set: SECRET_KEY has to be the new key, SECRET_KEY_OLD the one before')
  }
  return { to: createSecrets(newKey), newKey, from: createSecrets(oldKey) }
}

/**
 * Until a pass finds nothing: a process that still seals with the key before writes behind our back. Answers how many
 * values were sealed anew. Throws a sentence when some are opened by neither key, with all others done.
 */
async function rotate(db: Db, keys: Keys): Promise<number> {
  let total = 0
  for (;;) {
    const { resealed, lost } = await passOver(db, keys)
    total += resealed
    if (resealed > 0) continue
    if (lost.length > 0) throw new Error(lostSentence(lost))
    return total
  }
}

async function passOver(db: Db, keys: Keys): Promise<Resealed> {
  const all: Resealed = { ready: 0, resealed: 0, lost: [] }
  for (const column of SEALED_COLUMNS) {
    const { ready, resealed, lost } = await resealColumn(db, column, keys)
    all.ready += ready
    all.resealed += resealed
    all.lost.push(...lost)
  }
  return all
}

const SHOWN = 20

function lostSentence(lost: string[]): string {
  const more = lost.length > SHOWN ? `\nand ${lost.length - SHOWN} more` : ''
  return `${lost.length} values do not open:\n${lost.slice(0, SHOWN).join('\n')}${more}`
}
