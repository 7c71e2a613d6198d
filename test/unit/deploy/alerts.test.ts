import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { CASES, HEALTHY, promtoolFile } from '../../support/alert-cases.ts'
import { buildFirstSampleTests, COUNTERS } from '../../support/alert-first-samples.ts'
import { readText, readYaml } from '../../support/deployment.ts'
import type { Teardown } from '../../support/teardown.ts'

// takes about 20 s

const RULES = 'deploy/monitoring/alerts.yaml'
const rules: { alert: string; expr: string }[] = readYaml(RULES).groups[0].rules

t.test('Each alert rule has a fault that triggers it', async t => {
  const tried = new Set(CASES.flatMap(({ alerts }) => alerts))
  t.same(
    rules.map(({ alert }) => alert).filter(alert => !tried.has(alert)),
    [],
  )
  for (const { fault, series } of CASES) {
    t.same(
      Object.keys(series).filter(name => !(name in HEALTHY)),
      [],
      `${fault}: what changes is there in health, too`,
    )
  }
})

t.test('The series of the cases match the metrics of the programs, with their labels', async t => {
  const documented = new Map(
    [...readText('docs/metrics.md').matchAll(/^\| `(\w+)` \| \w+ \|(.*?)\|/gm)].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(found => found[1]!),
    ]),
  )
  for (const series of Object.keys(HEALTHY)) {
    const [, name = '', text = ''] = /^(\w+)\{(.*)\}$/.exec(series)!
    if (name === 'up') continue
    const labels = [...text.matchAll(/(\w+)=/g)].map(found => found[1]!)
    const known = documented.get(name.replace(/_(bucket|count)$/, '')) ?? ['unknown']
    t.same(labels.filter(label => !['job', 'instance', 'le'].includes(label)).sort(), known.toSorted(), series)
  }
})

/** Runs `promtool test rules` on a file about some rules; the output has SUCCESS when everything is as expected. */
async function runPromtool(t: Teardown, file: object, alerts: object[] = rules): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-alerts-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'picket', rules: alerts }] }))
  writeFileSync(join(dir, 'test.yaml'), JSON.stringify(file))
  // a third of its processor time is synchronization of threads and garbage collection
  const env = { ...process.env, GOMAXPROCS: '1', GOGC: '400' }
  const run = promisify(execFile)('promtool', ['test', 'rules', 'test.yaml'], { cwd: dir, env })
  const { stdout } = await run.catch(({ code, stdout = '', stderr = '' }) => {
    const missing = 'promtool is missing: install the package prometheus ("sudo apt-get install prometheus")'
    return { stdout: code === 'ENOENT' ? missing : `${stdout}${stderr}` }
  })
  return stdout
}

t.test('Each alert fires at its fault only, and none fires in a healthy hour', async t => {
  const output = await runPromtool(t, promtoolFile('rules.yaml'))
  t.match(output, /SUCCESS/)
  t.notMatch(output, /FAILED/)
})

t.test(
  'An event that Prometheus first sees as a count above 0 raises its alert, a gap in the scrapes does not',
  async t => {
    const single = rules.filter(
      ({ expr }) => /increase\(/.test(expr) && /\) > 0\s*$/.test(expr) && !/\bunless sum/.test(expr),
    )
    t.same(single.map(({ alert }) => alert).sort(), Object.keys(COUNTERS).sort())
    const output = await runPromtool(t, buildFirstSampleTests('rules.yaml'), single)
    t.match(output, /SUCCESS/)
    t.notMatch(output, /FAILED/)
  },
)
