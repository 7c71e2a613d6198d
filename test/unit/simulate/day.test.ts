import t from 'tap'
import { testSimulated } from '../../support/simulated.ts'

// takes about 30 s

const SEED = 11

t.test('One day with the faults of nine days: every outage is found in time, without false ones', async t => {
  const { outages, faults } = await testSimulated(t, { seed: SEED, days: 1 })
  t.ok(outages.plain > 25, `${outages.plain} outages without a fault, all found`)
  t.ok(faults > 8, `${faults} faults`)
})
