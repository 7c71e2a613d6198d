import t from 'tap'
import { testSimulated } from '../support/simulated.ts'

// takes about 30 s

const SEED = 11

t.test('Two days with the faults of three weeks: every outage is found in time, without false ones', async t => {
  const { outages, faults } = await testSimulated(t, { seed: SEED, days: 2 })
  t.ok(outages.plain > 50, `${outages.plain} outages without a fault, all found`)
  t.ok(faults > 20, `${faults} faults`)
})
