import t from 'tap'
import { runChaos } from '../chaos/chaos.ts'
import { SHORT } from '../chaos/scales.ts'

t.setTimeout(240_000)

t.test('half a minute of faults at random: nothing acknowledged is lost, and every outage is told once', async t => {
  const seed = Date.now() % 1_000_000
  const { checks, faults, dir } = await runChaos({ seed, scale: SHORT, say: line => t.comment(line) })
  t.equal(faults.length, SHORT.faults)
  for (const { sentence, against } of checks) t.same(against, [], `${sentence} (seed ${seed}, data in ${dir})`)
})
