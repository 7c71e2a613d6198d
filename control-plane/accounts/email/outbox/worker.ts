import type { Metrics } from '../../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { sendDueMails } from './actions.ts'

type Tools = LoopTools & { db: Db; secrets: SecretCipher; mailer: Mailer; publicUrl: string }

const INTERVAL_MS = 30_000

export function createAccountMailCounter(metrics: Metrics) {
  const mails = metrics.counter('picket_account_mails_total', 'Attempts to send account emails, by outcome', [
    'outcome',
  ])
  return initializeCounter(mails, 'outcome', ['sent', 'deferred', 'lost', 'dropped'])
}

/** Sends account emails, in any number of processes. Runs every 30 s and is woken when an email is queued. */
export function startAccountMailWorker({ metrics, ...handles }: Tools): Loop {
  const mails = createAccountMailCounter(metrics)
  const tools = { ...handles, count: (outcome: string) => mails.inc({ outcome }) }
  return startLoop('account-mails', INTERVAL_MS, { log: tools.log, metrics }, async signal => {
    while (!signal.aborted && (await sendDueMails(tools)));
  })
}
