import t from 'tap'
import { runChaos } from '../chaos/chaos.ts'
import { LONG } from '../chaos/scales.ts'

const SEED = 512
const MINUTES = 15

t.test('During 15 minutes of faults nothing acknowledged is lost, and every outage is reported once', async t => {
  const scale = { ...LONG, minutes: MINUTES, faults: (LONG.faults / LONG.minutes) * MINUTES }
  const { checks, faults, dir } = await runChaos({ seed: SEED, scale, log: line => t.comment(line) })
  t.equal(faults.length, scale.faults)
  for (const { statement, violations } of checks) t.same(violations, [], `${statement} (data in ${dir})`)
})
