import t from 'tap'
import { testSimulated } from '../support/simulated.ts'

const SEED = 107

t.test(
  'six days with the faults of eight weeks: every outage is found in time, and nothing is found that was not',
  async t => {
    const { outages, faults } = await testSimulated(t, { seed: SEED, days: 6 })
    t.ok(outages.plain > 150, `${outages.plain} outages without a fault, all found`)
    t.ok(faults > 60, `${faults} faults`)
  },
)
