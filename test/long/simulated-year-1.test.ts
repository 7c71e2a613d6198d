import t from 'tap'
import { testSimulated } from '../support/simulated.ts'

const SEED = 101

t.test('a third of the faults of a year: every outage is found in time, and nothing is found that was not', async t => {
  const { outages, faults } = await testSimulated(t, { seed: SEED, days: 14 })
  t.ok(outages.plain > 400, `${outages.plain} outages without a fault, all found`)
  t.ok(faults > 200, `${faults} faults`)
})
