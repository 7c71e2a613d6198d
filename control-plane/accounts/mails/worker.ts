import { type Loop, type LoopTools, startLoop } from '../../platform/loop.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { sendDueMails } from './actions.ts'

type Tools = LoopTools & { db: Db; secrets: Secrets; mailer: Mailer; publicUrl: string }

const EVERY_MS = 30_000

/** Sends mails about accounts, in any number of processes: woken by whoever posts one, and by the time of the next attempt. */
export function startAccountMailWorker({ metrics, ...handles }: Tools): Loop {
  const mails = metrics.counter('picket_account_mails_total', 'Mails about accounts by what became of them', [
    'outcome',
  ])
  const tools = { ...handles, count: (outcome: string) => mails.inc({ outcome }) }
  return startLoop('account-mails', EVERY_MS, { log: tools.log, metrics }, async signal => {
    while (!signal.aborted && (await sendDueMails(tools)));
  })
}
