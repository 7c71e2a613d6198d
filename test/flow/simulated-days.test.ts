import t from 'tap'
import { testSimulated } from '../support/simulated.ts'

// takes about 30 s; test/long/simulated-weeks-*.test.ts simulate six days each

const SEED = 11

t.test('A day with the faults of ten days: every outage is found in time, without false ones', async t => {
  const { outages, faults } = await testSimulated(t, { seed: SEED, days: 1 })
  t.ok(outages.plain > 25, `${outages.plain} outages without a fault, all found`)
  t.ok(faults > 10, `${faults} faults`)
})
