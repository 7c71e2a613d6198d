/**
 * A keyword monitor with the expression `(a+)+$` on a page of a MiB: how long the matching takes, and for how long the
 * probe's event loop is held by the whole check. `node --import tsx test/bench/regex.ts`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { evaluateAssertions } from '../../probe-agent/execution/evaluate-assertions.ts'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import { Outcome } from '../../shared/checks/result.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createCheckSpec } from '../support/spec.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Figure, figure, percentile, withTeardown } from './rig.ts'

const MIB = 1024 * 1024
const CHECKS = 100
const WARM = 5
const RESOLUTION_MS = 1
const PATTERN = '(a+)+$'

export async function benchRegex(t: Teardown): Promise<Figure[]> {
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => target.kill())
  const [port] = await once(target, 'message')
  const egress = createEgress({ allow: ['127.0.0.0/8'] })
  const spec = createCheckSpec({
    type: 'keyword',
    url: `http://127.0.0.1:${port}/`,
    keyword: PATTERN,
    keywordType: 'regex',
  })
  const assertions = [{ type: 'body', operator: 'matches', value: PATTERN }]
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const matchMs: number[] = []
  for (let i = 0; i < WARM + CHECKS; i++) {
    if (i === WARM) loop.enable()
    const { outcome, observation } = await runCheck(spec, egress)
    if (outcome !== Outcome.UP) throw new Error(`a check failed: ${JSON.stringify(observation.error)}`)
    const started = performance.now()
    await evaluateAssertions(assertions, observation, Date.now())
    if (i >= WARM) matchMs.push(performance.now() - started)
  }
  loop.disable()
  const heldMs = loop.max / 1e6 - RESOLUTION_MS
  const p99 = percentile(matchMs, 0.99)
  return [
    figure(
      `the keyword regex \`${PATTERN}\` on 1 MiB (p50 / p99 of ${CHECKS})`,
      `${percentile(matchMs, 0.5).toFixed(0)} / ${p99.toFixed(0)} ms`,
      '≤ 50 ms',
      p99 <= 50,
    ),
    figure('  longest block of the event loop by those checks', `${heldMs.toFixed(1)} ms`, '≤ 20 ms', heldMs <= 20),
  ]
}

function serve(): void {
  const page = Buffer.alloc(MIB, 'a')
  const server = createServer((_request, response) => response.end(page))
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}

if (process.argv[2] === 'serve') serve()
else if (import.meta.filename === process.argv[1]) console.log(await withTeardown(benchRegex))
