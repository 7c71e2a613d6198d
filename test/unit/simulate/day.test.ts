import t from 'tap'
import { testSimulated } from '../../support/simulated.ts'

// takes about 30 s

const SEED = 11

t.test('One day with the faults of nine days: every outage is found in time, without false ones', async t => {
  const { outages, faults, alerts } = await testSimulated(t, { seed: SEED, days: 1 })
  t.ok(outages.plain > 25, `${outages.plain} outages without a fault, all found`)
  t.ok(faults > 8, `${faults} faults`)
  const { windows, withheld, sentLater } = alerts
  t.ok(windows > 10, `${windows} maintenance windows`)
  t.ok(withheld > 5, `${withheld} alerts withheld`)
  t.ok(sentLater > 3, `${sentLater} sent afterwards`)
})
