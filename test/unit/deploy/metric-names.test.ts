import { execFileSync, spawnSync } from 'node:child_process'
import t from 'tap'
import { createMetrics } from '../../../shared/process/metrics.ts'
import { registeredMetrics } from '../../support/registered-metrics.ts'

/** Linted names that the client library gives itself: metrics of Node's process, which dashboards of others know. */
const OF_THE_LIBRARY = /^(nodejs|process)_/

for (const program of ['control-plane', 'probe-agent'] as const) {
  t.test(`promtool finds no fault in the names of the metrics of ${program}`, async t => {
    const metrics = createMetrics()
    for (const { name, type, labels } of registeredMetrics(program)) {
      const values = Object.fromEntries(labels.map(label => [label, 'value']))
      if (type === 'counter') metrics.counter(name, 'Help', labels).inc(values)
      else if (type === 'gauge') metrics.gauge(name, 'Help', labels).set(values, 1)
      else metrics.histogram(name, 'Help', [1], labels).observe(values, 1)
    }
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: (await metrics.render()).text,
      encoding: 'utf8',
    })
    const faults = `${stdout}${stderr}`.split('\n').filter(line => line !== '' && !OF_THE_LIBRARY.test(line))
    t.same(faults, [])
  })
}

t.test('promtool refuses a counter without "_total"', async t => {
  const input = '# HELP picket_checks Help\n# TYPE picket_checks counter\npicket_checks 1\n'
  t.throws(() => execFileSync('promtool', ['check', 'metrics'], { input, stdio: 'pipe' }))
})
