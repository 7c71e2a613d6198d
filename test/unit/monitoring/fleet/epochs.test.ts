import t from 'tap'
import { isDatabaseBehind, isPlausibleEpoch } from '../../../../control-plane/monitoring/fleet/live-sets/epochs.ts'

const at = (date: string) => Date.parse(date)
const DAY_S = 86_400

t.test('An epoch is plausible up to a day ahead of the time', async t => {
  t.equal(isPlausibleEpoch(1, at('2026-06-01')), true, 'earlier versions started with 1')
  t.equal(isPlausibleEpoch(10 * DAY_S, at('2026-01-10')), true)
  t.equal(isPlausibleEpoch(10 * DAY_S + 1, at('2026-01-10')), false)
  t.equal(isPlausibleEpoch(4_294_967_295, at('2060-01-01')), false)
  t.equal(isPlausibleEpoch(7, at('1970-01-01')), true, 'with a wrong clock')
})

t.test('The database is behind with an older epoch, or with another live set under the same epoch', async t => {
  const region = 'eu-west'
  const stored = (epoch: number, ...ids: string[]) => ({
    region,
    epoch,
    probes: ids.map(id => ({ id, capabilities: [] })),
  })
  const known = (epoch: number, ...probeIds: string[]) => ({ region, epoch, probeIds })
  t.equal(isDatabaseBehind(stored(6, 'a'), known(7, 'a')), true)
  t.equal(isDatabaseBehind(undefined, known(7, 'a')), true)
  t.equal(isDatabaseBehind(stored(7, 'a', 'b'), known(7, 'a')), true)
  t.equal(isDatabaseBehind(stored(7, 'b'), known(7, 'a')), true)
  t.equal(isDatabaseBehind(stored(7, 'b', 'a'), known(7, 'a', 'b')), false)
  t.equal(isDatabaseBehind(stored(8, 'b'), known(7, 'a')), false)
  t.equal(isDatabaseBehind(undefined, known(0)), false)
  t.equal(isDatabaseBehind(stored(7, 'b'), { region, epoch: 7, probeIds: null }), false)
  t.equal(isDatabaseBehind(stored(6, 'b'), { region, epoch: 7, probeIds: null }), true)
})
