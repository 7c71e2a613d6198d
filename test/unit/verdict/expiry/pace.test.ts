import t from 'tap'
import { computeNextLookup } from '../../../../control-plane/verdict/expiry/domains/pace.ts'

const now = new Date('2026-11-21T12:00:00Z')
const minutes = (failures: number, jitter = 0) =>
  (computeNextLookup(failures, now, ms => ms * jitter).getTime() - now.getTime()) / 60_000

t.test('a domain is looked up once a day, and after failures with growing pauses of at most a day', async t => {
  t.same(
    [0, 1, 2, 3, 4, 7, 8, 50, 1e6].map(failures => minutes(failures)),
    [1_440, 15, 30, 60, 120, 960, 1_440, 1_440, 1_440],
  )
})

t.test('jitter adds at most a tenth', async t => t.same([minutes(0, 1), minutes(1, 1)], [1_584, 16.5]))
