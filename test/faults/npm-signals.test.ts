import t from 'tap'
import {
  assertStartCanBeInterrupted,
  assertStartStops,
  assertTestsCanBeInterrupted,
  describeReceiver,
} from '../support/npm-signals.ts'

// takes about 45 s; test/long/npm-signals.test.ts has the other combinations

for (const [signal, to] of [
  ['SIGTERM', 1],
  ['SIGINT', -1],
] as const) {
  t.test(`"npm start" stops all its processes in order on ${signal} to ${describeReceiver(to)}`, t =>
    assertStartStops(t, ['start'], signal, to),
  )
}

t.test('"npm start" leaves no process after SIGTERM to npm alone during the start', t =>
  assertStartCanBeInterrupted(t, 'SIGTERM'),
)

t.test('"npm test" ends its tests and their data stores on Ctrl-C', t => assertTestsCanBeInterrupted(t, 'SIGINT', -1))
