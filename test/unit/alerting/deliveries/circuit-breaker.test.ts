import t from 'tap'
import {
  type CircuitBreaker,
  getCircuitState,
  updateCircuit,
} from '../../../../control-plane/alerting/deliveries/relay/circuit-breaker.ts'

const start = new Date('2026-11-01T12:00:00.000Z')
const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
const CLOSED: CircuitBreaker = { consecutiveFailures: 0, openedAt: null, nextTrialAt: null }

const OUTCOMES: Record<string, { responseCode: number | null; isPermanent: boolean }> = {
  '+': { responseCode: 200, isPermanent: false },
  '-': { responseCode: 503, isPermanent: false },
  '~': { responseCode: null, isPermanent: false },
  '4': { responseCode: 404, isPermanent: true },
}

/** Attempts as signs, each at its second; the state after the last one, and a minute later. */
const ROWS: [string, [string, number][], string, string][] = [
  ['four failures leave a circuit closed', row('-~-~'), 'closed', 'closed'],
  ['the fifth failure in a row opens it, for a minute', row('-~-~-'), 'open', 'half_open'],
  ['a success resets the count', row('----+----'), 'closed', 'closed'],
  ['a refusal is a response and resets the count', row('----4----'), 'closed', 'closed'],
  [
    'failures of requests in flight at the opening do not defer the trial',
    [...row('-----'), ['-', 50]],
    'open',
    'half_open',
  ],
  ['a trial that fails opens it for another minute', [...row('-----'), ['-', 70]], 'open', 'half_open'],
  ['a trial that succeeds closes it', [...row('-----'), ['+', 70]], 'closed', 'closed'],
  ['a late success of an earlier request closes it too', [...row('-----'), ['+', 10]], 'closed', 'closed'],
]

function row(signs: string): [string, number][] {
  return [...signs].map((sign, second) => [sign, second])
}

for (const [title, attempts, then, later] of ROWS) {
  t.test(title, async t => {
    const circuit = attempts.reduce(
      (before, [sign, second]) => updateCircuit(before, toOutcome(sign), at(second)),
      CLOSED,
    )
    const last = attempts.at(-1)![1]
    t.equal(getCircuitState(circuit, at(last)), then)
    t.equal(getCircuitState(circuit, at(last + 60)), later)
  })
}

t.test('A circuit has the time of its opening and of the next trial', async t => {
  const opened = row('-----').reduce((before, [, second]) => updateCircuit(before, toOutcome('-'), at(second)), CLOSED)
  t.same(opened, { consecutiveFailures: 5, openedAt: at(4), nextTrialAt: at(64) })
  t.same(updateCircuit(opened, toOutcome('~'), at(64)), {
    consecutiveFailures: 6,
    openedAt: at(4),
    nextTrialAt: at(124),
  })
})

function toOutcome(sign: string) {
  return { ...OUTCOMES[sign]!, startedAt: start, durationMs: 1, error: null, responseSnippet: null }
}
