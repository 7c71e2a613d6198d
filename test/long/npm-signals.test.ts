import t from 'tap'
import {
  assertStartCanBeInterrupted,
  assertStartStops,
  assertTestsCanBeInterrupted,
  describeReceiver,
} from '../support/npm-signals.ts'

t.test('"npm run demo" stops all its processes in order on SIGINT to npm alone', t =>
  assertStartStops(t, ['run', 'demo'], 'SIGINT', 1),
)

t.test('"npm start" leaves no process after SIGINT to npm alone during the start', t =>
  assertStartCanBeInterrupted(t, 'SIGINT'),
)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`"npm test" ends its tests and their data stores on ${signal} to ${describeReceiver(1)}`, t =>
    assertTestsCanBeInterrupted(t, signal, 1),
  )
}
