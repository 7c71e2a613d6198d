import t from 'tap'
import { parseSignal } from '../../../../control-plane/verdict/heartbeats/intake/signal.ts'
import {
  applyPing,
  createPingEffects,
  markOverdue,
  type PingEffects,
} from '../../../../control-plane/verdict/heartbeats/ping-effects.ts'
import type { LockedHeartbeat } from '../../../../control-plane/verdict/heartbeats/types.ts'

const id = '0190a0a0-0000-7000-8000-000000000001'
const START_MS = 1_800_000_000_000
const ALLOWED_S = 3_660

const fresh: LockedHeartbeat = {
  monitor: { id, isHeartbeat: true, configVersion: 1, isPaused: false, interval: 3_600, grace: 60 },
  heartbeat: { pings: 0, lastPingAtMs: null, lastSuccessAtMs: null, runStartedAtMs: null, dueAtMs: null },
  state: null,
}

/**
 * Stores pings one after the other, each in its own transaction: of the verdict state, only what was stored is read
 * again. "ok@0 fail@10/13" is a success that arrives and is stored at 0 s, and a failure that arrives at 10 s, is
 * queued, and is stored at 13 s. `overdue` is a success that did not arrive.
 */
function run(text: string) {
  let watch = fresh
  const numbers: PingEffects['pings'] = []
  for (const step of text.split(' ')) {
    const [word, times] = step.split('@') as [string, string]
    const [arrivedMs, storedMs] = times.split('/').map(seconds => START_MS + Number(seconds) * 1_000)
    const isKept = storedMs !== undefined
    const effects = createPingEffects(watch)
    const signal = parseSignal(word === 'ok' ? undefined : word)!
    const { locked, change, pings } =
      word === 'overdue'
        ? markOverdue(watch, arrivedMs!)
        : applyPing(effects, { signal, body: null, isKept }, arrivedMs!, storedMs ?? arrivedMs)
    numbers.push(...pings)
    watch = { ...locked, state: change?.state ?? watch.state }
  }
  const { dueAtMs, runStartedAtMs } = watch.heartbeat
  const toSeconds = (ms: number | null) => (ms === null ? null : (ms - START_MS) / 1_000)
  return {
    status: watch.state?.status ?? null,
    due: toSeconds(dueAtMs),
    runStarted: toSeconds(runStartedAtMs),
    runMs: numbers.map(({ runMs }) => runMs),
  }
}

type Row = [what: string, pings: string, status: 'up' | 'down' | null, due: number | null]
const due = (storedAt: number) => storedAt + ALLOWED_S

const ROWS: Row[] = [
  ['a failure that a log overtakes', 'ok@0 log@12 fail@10/13', 'down', null],
  ['a failure that a start overtakes', 'ok@0 start@12 fail@10/13', 'down', null],
  ['a failure that a start and a log overtake', 'ok@0 start@12 log@12 fail@10/13', 'down', null],
  ['a failed exit code that a log overtakes', 'ok@0 log@12 3@10/13', 'down', null],
  ['a failed exit code that a start overtakes', 'ok@0 start@12 3@10/13', 'down', null],
  ['a success that a log overtakes', 'ok@0 log@12 ok@10/13', 'up', due(13)],
  ['a success that a start overtakes', 'ok@0 start@12 ok@10/13', 'up', due(13)],
  ['exit code 0 that a log overtakes', 'ok@0 log@12 0@10/13', 'up', due(13)],
  ['exit code 0 that a start overtakes', 'ok@0 start@12 0@10/13', 'up', due(13)],
  ['a first success that a log overtakes', 'log@12 ok@10/13', 'up', due(13)],
  ['a success that ends an outage and that a log overtakes', 'ok@0 fail@5 log@12 ok@10/13', 'up', due(13)],
  ['a success that ends an outage and that a start overtakes', 'ok@0 fail@5 start@12 ok@10/13', 'up', due(13)],
  ['a failure before a newer success stays old', 'ok@0 ok@12 fail@10/13', 'up', due(12)],
  ['a failed exit code before a newer success stays old', 'ok@0 0@12 3@10/13', 'up', due(12)],
  ['a success before a newer failure stays old', 'ok@0 fail@12 ok@10/13', 'down', null],
  ['exit code 0 before a newer failed one stays old', 'ok@0 3@12 0@10/13', 'down', null],
  ['a success between two failures stays old', 'ok@0 fail@5 fail@12 ok@10/13', 'down', null],
  ['a success before a failure of an overdue monitor stays old', 'ok@0 overdue@5 fail@12 ok@10/13', 'down', null],
  ['a success before an overdue ping ends the false outage', 'ok@0 overdue@12 ok@10/13', 'up', due(13)],
  ['the same with a log', 'ok@0 overdue@12 log@12 ok@10/13', 'up', due(13)],
  ['a success and then a failure, both overtaken by a log', 'ok@0 log@12 ok@10/13 fail@11/13', 'down', null],
  ['a failure and then a success, both overtaken by a log', 'ok@0 log@12 fail@10/13 ok@11/13', 'up', due(13)],
  ['a failure and then an older success', 'ok@0 log@12 fail@11/13 ok@10/13', 'down', null],
  ['a success and then a failure, both before an overdue ping', 'ok@0 overdue@12 ok@10/13 fail@11/13', 'down', null],
  ['a failure and then a success, both before an overdue ping', 'ok@0 overdue@12 fail@10/13 ok@11/13', 'up', due(13)],
  ['a start before a newer log stays old', 'log@12 start@10/13', null, null],
  ['a start that nothing overtakes begins the wait', 'log@9 start@10/13', null, due(13)],
]
for (const [what, pings, status, dueAt] of ROWS) {
  t.test(`Queued pings: ${what} (${pings})`, async t => {
    const { status: actual, due } = run(pings)
    t.same([actual, due], [status, dueAt])
  })
}

t.test('A queued ping does not end the run of a newer start', async t => {
  for (const word of ['ok', 'fail']) {
    const { runStarted, runMs } = run(`start@0 start@12 ${word}@10/13`)
    t.same([runStarted, runMs], [12, [null, null, null]], word)
  }
  const { runStarted, runMs } = run('start@2 ok@10/13')
  t.same([runStarted, runMs], [null, [null, 8_000]], 'it ends the run before it')
  t.same(run('ok@0 overdue@5 start@2/6 ok@3/6').runStarted, null, 'also when their stored times are later')
})
