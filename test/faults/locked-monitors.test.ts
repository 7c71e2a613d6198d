import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startVerdictEngines, startVerdictProcess } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url, server, db } = await startVerdictEngines(t)

t.test('A verdict process that cannot read changed monitors tries again before the watchdog ends it', async t => {
  const { metric } = await startVerdictProcess(t, url, server.url)
  const rounds = (outcome: string) => metric(`picket_loop_rounds_total{loop="verdict-monitors",outcome="${outcome}"}`)
  await waitFor(async () => (await rounds('ok')) > 0, { label: 'a first round' })
  const lock = await openTransaction(db)
  await execute(lock, 'LOCK TABLE monitors IN ACCESS EXCLUSIVE MODE')
  // then the process waits for the table, to read which monitor has changed
  await query(lock, `SELECT nextval('monitor_revisions')`)
  const isOver = async () => (await rounds('failed')) > 1 || (await rounds('late')) > 0
  await waitFor(isOver, { label: 'rounds that do not succeed' })
  t.notOk(await rounds('late'))
  await lock.rollback()
  const before = await rounds('ok')
  await waitFor(async () => (await rounds('ok')) > before, { label: 'a round that succeeds' })
})
