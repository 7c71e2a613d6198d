import { createEgress } from '../../../../shared/egress/index.ts'
import { readList } from '../../../../shared/process/env.ts'
import { readOlderSecretKey, readPublicUrl, readSecretKey } from '../../../config.ts'
import { createSecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../../foundation/platform/crypto/signer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { createCanaries, removeCanaries } from '../../../insight/canaries/actions.ts'
import { CANARY_KEY_PURPOSE } from '../../../insight/canaries/canary-urls.ts'
import {
  computeNextStart,
  DEFAULT_SCHEDULE,
  FAILURE_KINDS,
  findScheduleProblem,
  parseFailureKinds,
} from '../../../insight/canaries/schedule.ts'
import { type Canary, loadCanaries } from '../../../insight/canaries/store.ts'
import { type AdminCommand, assertNoArguments, parseOptions, UsageError } from '../command.ts'
import { assertSecretKey } from '../key-check-store.ts'

/** Canaries: targets that fail on purpose. */
export const CANARY_COMMANDS: Record<string, AdminCommand> = {
  'canaries create': {
    usage: '[--url <origin>] [--every <seconds>] [--for <seconds>] [--kinds <kind>,…]',
    summary: 'create a target that fails on purpose for each region with probes',
    details: [
      'Canaries measure how fast an outage is reported. Run the command again to change them or to update the regions.',
      `They fail in these ways in turn (--kinds, default all): ${FAILURE_KINDS.join(', ')}.`,
    ],
    async run({ db, unauditedDb, env }, args) {
      const { text } = parseOptions(args, { optional: ['url', 'every', 'for', 'kinds'] })
      const kinds = parseFailureKinds(text('kinds') ?? DEFAULT_SCHEDULE.kinds.join(','))
      if (kinds === null)
        throw new UsageError(
          `--kinds must be one or more of ${FAILURE_KINDS.join(', ')}, each once, separated by commas`,
        )
      const schedule = {
        everySeconds: Number(text('every') ?? DEFAULT_SCHEDULE.everySeconds),
        forSeconds: Number(text('for') ?? DEFAULT_SCHEDULE.forSeconds),
        kinds,
      }
      const problem = findScheduleProblem(schedule)
      if (problem !== null) throw new UsageError(problem)
      const key = readSecretKey(env)
      const { checkLiteral } = createEgress({ allow: readList(env, 'EGRESS_ALLOW') })
      const crypto = {
        secrets: createSecretCipher(key, readOlderSecretKey(env)),
        sign: createSigner(key, CANARY_KEY_PURPOSE),
      }
      await assertSecretKey(unauditedDb, crypto.secrets)
      const tools = { db, ...crypto, checkLiteral, publicUrl: readPublicUrl(env) }
      const origin = (text('url') ?? readPublicUrl(env)).replace(/\/+$/, '')
      await createCanaries(tools, { ...schedule, origin }, now())
      return listCanaries(db)
    },
  },
  'canaries list': {
    summary: 'print region, monitor, status, next and last planned failure of each canary',
    async run({ db }, args) {
      assertNoArguments(args)
      return listCanaries(db)
    },
  },
  'canaries remove': {
    summary: 'delete all canaries; measurements are kept',
    async run({ db, env }, args) {
      assertNoArguments(args)
      const isRemoved = await removeCanaries(db, readPublicUrl(env), now())
      return isRemoved ? 'the canaries were removed' : 'there are no canaries'
    },
  },
}

async function listCanaries(db: Db): Promise<string> {
  const at = now()
  return (await loadCanaries(db)).map(canary => formatCanary(canary, at)).join('\n')
}

/** A canary as a line of the output, separated by tabs. */
function formatCanary(canary: Canary, now: Date): string {
  const { region, monitorId, isPaused, status, lastStartedAt, lastOutcome, lastKind } = canary
  const state = isPaused ? 'paused' : (status ?? 'pending')
  const last = lastStartedAt
    ? `failed ${lastStartedAt.toISOString()} (${lastKind}): ${lastOutcome}`
    : 'not measured yet'
  return [region, monitorId, state, `fails ${computeNextStart(canary, now).toISOString()}`, last].join('\t')
}
