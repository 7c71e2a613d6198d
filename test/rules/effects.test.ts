import t from 'tap'
import { places, sources } from './source.ts'

/** What runs in a visitor’s browser, and the text made of it: it has the clock and network of that browser, not Picket's. */
const IN_BROWSERS = /^control-plane\/(pages\/templates\/(browser\/|assets\.ts$)|dashboard\/(browser|wall\/browser)\/)/
const files = sources('shared', 'control-plane', 'probe-agent').filter(({ path }) => !IN_BROWSERS.test(path))

t.test('the environment is read in main and config only', async t => {
  const readers = /^(control-plane|probe-agent)\/(main|admin|config)\.ts$/
  const found = files.filter(({ path }) => !readers.test(path)).flatMap(file => places(file, /process\.env\b/g))
  t.same(found, [])
})

/**
 * Time and chance come in as arguments. The places that make them: the control plane's platform, the agent's loop and
 * clock, the egress guard, whose socket timings are what a check measures, the limiter, whose turns are awaited, and the end
 * of a process.
 */
const CLOCKS =
  /^(control-plane\/foundation\/platform\/.*|probe-agent\/(schedule\/loop|clock)|shared\/(egress\/.*|process\/(exit|fair-limiter)))\.ts$/
const CLOCK =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(UUID|Bytes|Int)\b|\bperformance\.now\b|\bhrtime\b|\bset(Timeout|Interval)\(|['"]node:timers/g

t.test('clock and randomness live in platform, in the agent’s loop and clock, and in the egress guard', async t => {
  const found = files.filter(({ path }) => !CLOCKS.test(path)).flatMap(file => places(file, CLOCK))
  t.same(found, [])
})

t.test('nothing is fetched around the egress guard', async t => {
  t.same(
    files.flatMap(file => places(file, /(?<![.\w])fetch\(/g)),
    [],
  )
})
