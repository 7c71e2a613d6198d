import t from 'tap'
import { runChaos } from '../chaos/chaos.ts'
import { SHORT } from '../chaos/scales.ts'

// takes about 70 s

/** Ten of the sixteen kinds of faults, every cheap one among them. `npm run chaos -- --short` takes another seed each time. */
const SEED = 23_776

t.test('During half a minute of faults nothing acknowledged is lost, and every outage is reported once', async t => {
  const { checks, faults, dir } = await runChaos({ seed: SEED, scale: SHORT, log: line => t.comment(line) })
  t.equal(faults.length, SHORT.faults)
  for (const { statement, violations } of checks) t.same(violations, [], `${statement} (data in ${dir})`)
})
