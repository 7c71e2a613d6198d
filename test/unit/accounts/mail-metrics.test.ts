import t from 'tap'
import { createAccountMailCounter } from '../../../control-plane/accounts/email/outbox/worker.ts'
import { createMetrics } from '../../../shared/process/metrics.ts'

t.test(
  'The counter of account mails begins with 0 for each outcome, so that the first lost mail raises the alert',
  async t => {
    const metrics = createMetrics()
    const mails = createAccountMailCounter(metrics)
    const read = async () => (await metrics.render()).text
    for (const outcome of ['sent', 'deferred', 'lost', 'dropped'])
      t.match(await read(), new RegExp(`^picket_account_mails_total\\{outcome="${outcome}"\\} 0$`, 'm'))
    mails.inc({ outcome: 'lost' })
    t.match(await read(), /^picket_account_mails_total\{outcome="lost"\} 1$/m)
  },
)
