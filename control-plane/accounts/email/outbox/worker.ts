import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { sendDueMails } from './actions.ts'

type Tools = LoopTools & { db: Db; secrets: SecretCipher; mailer: Mailer; publicUrl: string }

const INTERVAL_MS = 30_000

/** Sends mails about accounts, in any number of processes: woken by whoever posts one, and by the time of the next attempt. */
export function startAccountMailWorker({ metrics, ...handles }: Tools): Loop {
  const mails = metrics.counter('picket_account_mails_total', 'Mails about accounts by what became of them', [
    'outcome',
  ])
  const tools = { ...handles, count: (outcome: string) => mails.inc({ outcome }) }
  return startLoop('account-mails', INTERVAL_MS, { log: tools.log, metrics }, async signal => {
    while (!signal.aborted && (await sendDueMails(tools)));
  })
}
