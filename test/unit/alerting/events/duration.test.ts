import t from 'tap'
import { formatDuration } from '../../../../control-plane/alerting/events/duration.ts'

const TABLE: [seconds: number, text: string][] = [
  [0, '0 seconds'],
  [-3, '0 seconds'],
  [0.4, '0 seconds'],
  [1, '1 second'],
  [59.6, '1 minute'],
  [61, '1 minute 1 second'],
  [252, '4 minutes 12 seconds'],
  [3_600, '1 hour'],
  [3_605, '1 hour'],
  [7_380, '2 hours 3 minutes'],
  [86_400 + 3_600, '1 day 1 hour'],
  [90 * 86_400, '90 days'],
]

t.test('A duration is formatted in its two largest units', async t => {
  for (const [seconds, text] of TABLE) t.equal(formatDuration(seconds * 1_000), text)
})
