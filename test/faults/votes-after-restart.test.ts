import tap from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  createNextResult,
  insertMonitor,
  publish,
  readStatuses,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 50 s

tap.setTimeout(600_000)
const LONG_WAIT = { timeoutMs: 120_000 }
const REGIONS = ['us-east', 'eu-west', 'ap-southeast', 'us-west', 'eu-central']
/** A vote counts for 8 s. */
const INTERVAL_S = 2

const { url, server, db, nats, projectId } = await startVerdictEngines(tap)
const five = { regions: REGIONS, intervalSeconds: INTERVAL_S }
const [failedFirst, succeededFirst] = [
  await insertMonitor(db, projectId, five),
  await insertMonitor(db, projectId, five),
]

/** One check by each region: `.` up, `x` down, a blank for a region without probes. */
async function checks(id: string, round: string): Promise<void> {
  for (const [i, region] of REGIONS.entries()) {
    if (round[i] !== ' ') await publish(nats, [createNextResult(id, { up: round[i] === '.' })], region)
  }
}

/** Rounds of checks of both monitors until the condition holds. */
async function checksUntil(rounds: [string, string], label: string, isSo: () => Promise<boolean>): Promise<void> {
  const going = async () => {
    await checks(failedFirst, rounds[0])
    await checks(succeededFirst, rounds[1])
    return isSo()
  }
  await waitFor(going, { ...LONG_WAIT, label })
}

const statuses = async () => [await readStatuses(db, failedFirst), await readStatuses(db, succeededFirst)]
const are = async (first: string, second: string) =>
  JSON.stringify(await statuses()) === JSON.stringify([first, second])

let verdict = await startVerdictProcess(tap, url, server.url)
await checksUntil(['.....', '.....'], 'all regions are well', () => are('up', 'up'))
await checksUntil(['xx...', '.....'], 'two regions fail', () => are('up degraded', 'up'))
await checksUntil(['  ...', '  ...'], 'their probes are gone and their votes end', () => are('up degraded up', 'up'))
// of the three that are left
const NOW: [string, string] = ['  x..', '  xx.']
const EXPECTED = ['up degraded up degraded', 'up down'] as const
await checksUntil(NOW, 'one of three fails, and two of three', () => are(...EXPECTED))

/** The monitors after some more rounds, which the process counts. */
async function afterMoreRounds(process: typeof verdict): Promise<string[]> {
  const counted = () => process.metric('picket_verdict_results_total{kind="counted"')
  const before = await counted()
  await checksUntil(NOW, 'more results are counted', async () => (await counted()) >= before + 30)
  return statuses()
}

const forget = () => execute(db, 'DELETE FROM partition_checkpoints')
const older = () => execute(db, `UPDATE partition_checkpoints SET data = '\\x0109'`)
/** As an older version stores it: votes count as renewed at its last start. */
const revived = () =>
  execute(
    db,
    `UPDATE verdict_states SET state = jsonb_set(state, '{restoredAtMs}',
       to_jsonb(floor(extract(epoch FROM clock_timestamp()) * 1000)))`,
  )

const restarts: [string, () => Promise<unknown>][] = [
  ['it was stopped', () => verdict.stop()],
  ['it was killed', () => verdict.kill()],
  ['it was killed, and its checkpoints are lost', () => verdict.kill().then(forget)],
  [
    'it was stopped, and a version before it wrote the checkpoints and states',
    () => verdict.stop().then(older).then(revived),
  ],
]
for (const [how, end] of restarts) {
  tap.test(`Expired votes do not count again after a process takes over because ${how}`, async t => {
    await end()
    verdict = await startVerdictProcess(tap, url, server.url)
    t.same(await afterMoreRounds(verdict), EXPECTED)
  })
}

tap.test('Expired votes do not count again after NATS was restarted', async t => {
  await server.restart()
  t.same(await afterMoreRounds(verdict), EXPECTED)
})

tap.test('The remaining regions decide the next change', async t => {
  await checksUntil(['  ...', '  ...'], 'all are well', () => are(`${EXPECTED[0]} up`, `${EXPECTED[1]} up`))
  t.pass()
})
