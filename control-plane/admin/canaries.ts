import { createEgress } from '../../shared/egress/index.ts'
import { list } from '../../shared/env.ts'
import { createCanaries, removeCanaries } from '../canaries/actions.ts'
import { PURPOSE } from '../canaries/address.ts'
import { lineOf } from '../canaries/line.ts'
import { DEFAULT_SCHEDULE, KINDS, parseKinds, scheduleProblem } from '../canaries/schedule.ts'
import { allCanaries } from '../canaries/store.ts'
import { olderSecretKey, publicUrl, secretKey } from '../config.ts'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { createSecrets } from '../platform/secrets.ts'
import { createSigner } from '../platform/signer.ts'
import { type Command, none, options, UsageError } from './command.ts'

/** Targets that fail on purpose. */
export const CANARY_COMMANDS: Record<string, Command> = {
  'canaries create': {
    takes: '[--url <origin>] [--every <seconds>] [--for <seconds>] [--kinds <kind>,…]',
    does: 'makes a target that fails on purpose for each region with probes',
    more: [
      'They measure how fast an outage is reported. Run it again to change them or to add and drop regions.',
      `They fail in these ways in turn, all unless you say: ${KINDS.join(', ')}.`,
    ],
    async run({ db, env }, args) {
      const { text } = options(args, { optional: ['url', 'every', 'for', 'kinds'] })
      const kinds = parseKinds(text('kinds') ?? DEFAULT_SCHEDULE.kinds.join(','))
      if (kinds === null)
        throw new UsageError(`--kinds takes one or more of ${KINDS.join(', ')}, each once, with commas between`)
      const schedule = {
        everySeconds: Number(text('every') ?? DEFAULT_SCHEDULE.everySeconds),
        forSeconds: Number(text('for') ?? DEFAULT_SCHEDULE.forSeconds),
        kinds,
      }
      const problem = scheduleProblem(schedule)
      if (problem !== null) throw new UsageError(problem)
      const key = secretKey(env)
      const { checkLiteral } = createEgress({ allow: list(env, 'EGRESS_ALLOW') })
      const sealed = { secrets: createSecrets(key, olderSecretKey(env)), sign: createSigner(key, PURPOSE) }
      const tools = { db, ...sealed, checkLiteral, publicUrl: publicUrl(env) }
      const origin = (text('url') ?? publicUrl(env)).replace(/\/+$/, '')
      await createCanaries(tools, { ...schedule, origin }, now())
      return listCanaries(db)
    },
  },
  'canaries list': {
    does: 'prints region, monitor, status, next and last planned failure',
    async run({ db }, args) {
      none(args)
      return listCanaries(db)
    },
  },
  'canaries remove': {
    does: 'deletes them; what was measured stays',
    async run({ db, env }, args) {
      none(args)
      const wereThere = await removeCanaries(db, publicUrl(env), now())
      return wereThere ? 'the canaries are removed' : 'there are no canaries'
    },
  },
}

async function listCanaries(db: Db): Promise<string> {
  const at = now()
  return (await allCanaries(db)).map(canary => lineOf(canary, at)).join('\n')
}
