import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { buildRuns } from '../../../control-plane/dashboard/screens/monitors/checks/heartbeats/runs.ts'
import { buildSnippets } from '../../../control-plane/dashboard/screens/monitors/checks/heartbeats/snippets.ts'
import { monitorScreen } from '../../../control-plane/dashboard/screens/monitors/monitor.tsx'
import { parseSignal } from '../../../control-plane/verdict/heartbeats/intake/signal.ts'
import { buildCheck } from '../../support/dashboard-answers.ts'

const URL = 'https://picket.example.com/ping/0123456789abcdefghijABCD'

type Kind = 'success' | 'start' | 'fail' | 'log' | 'overdue'
const ping = (kind: Kind, minute: number, changes: { ms?: number; code?: number; body?: string } = {}) =>
  buildCheck({
    ...{ id: `${kind}-${minute}`, scheduled_at: `2026-11-21T14:${String(minute).padStart(2, '0')}:00.000Z` },
    response_time_ms: changes.ms ?? 0,
    heartbeat: { kind, exit_code: changes.code ?? null, body: changes.body ?? null },
  })

t.test('Pings become runs, newest first, with duration, exit code and log', async t => {
  const oldestFirst = [
    ping('success', 1),
    ping('start', 10),
    ping('log', 11, { body: 'half done' }),
    ping('fail', 12, { ms: 120_000, code: 3, body: 'disk full' }),
    ping('overdue', 20),
    ping('start', 30),
  ]
  const runs = buildRuns(oldestFirst.toReversed())
  t.match(runs, [
    { outcome: 'running', at: '2026-11-21T14:30:00.000Z', durationMs: null },
    { outcome: 'overdue', durationMs: null },
    { outcome: 'fail', durationMs: 120_000, exitCode: 3, log: 'disk full', lines: [{ text: 'half done' }] },
    { outcome: 'success', durationMs: null, exitCode: null, lines: [] },
  ])
  t.equal(runs.length, 4)
  t.same(buildRuns([]), [])
})

t.test('Lines of a log without a start are not shown as a job that runs', async t => {
  const first = ping('log', 2, { body: 'one' })
  const oldestFirst = [ping('success', 1), first, ping('log', 3, { body: 'two' })]
  t.match(buildRuns(oldestFirst.toReversed()), [
    { outcome: 'log', at: '2026-11-21T14:03:00.000Z', durationMs: null, lines: [{ text: 'one' }, { text: 'two' }] },
    { outcome: 'success', lines: [] },
  ])
  t.match(buildRuns([ping('success', 4), first]), [{ outcome: 'success', lines: [{ text: 'one' }] }])
  t.match(buildRuns([first, ping('start', 0)]), [{ outcome: 'running', lines: [{ text: 'one' }] }])
})

t.test(
  'The runs of a heartbeat are from its newest pings, whichever page or filter of its checks is shown',
  async t => {
    const listReads = (search: string) => {
      const location = { params: { id: 'm1' }, search: new URLSearchParams(search) }
      const reads = Object.values(monitorScreen.queries(location, 1_795_000_000_000, {} as never))
      return reads.filter(({ name }) => name === 'listMonitorChecks').map(one => one.arguments)
    }
    const newest = { path: { id: 'm1' }, query: { per_page: 20 } }
    t.same(listReads(''), [newest])
    for (const search of ['page=2', 'status=unknown', 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z']) {
      const reads = listReads(search)
      t.equal(reads.length, 2, search)
      t.same(reads[1], newest, search)
    }
  },
)

t.test('Every address in the texts for jobs is a ping URL with a signal', async t => {
  const groups = buildSnippets(URL)
  t.same(
    groups.map(({ name }) => name),
    ['curl', 'cron', 'systemd', 'PowerShell', 'Python', 'Node'],
  )
  for (const { name, parts } of groups) {
    const text = parts.map(({ code }) => code).join('\n')
    const signals = [...text.matchAll(/\/ping\/0123456789abcdefghijABCD(?:\/([a-z]+))?/g)].map(match => match[1])
    t.ok(signals.length > 0, name)
    for (const signal of signals) t.ok(parseSignal(signal), `${name}: ${signal}`)
  }
  const cron = groups.find(({ id }) => id === 'cron')!
  for (const { code } of cron.parts) t.notMatch(code, /[\n%]/, 'one line, without the % that cron replaces')
})

t.test('The texts for a shell report the exit code and the log of the job', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'picket-snippets-'))
  t.teardown(() => spawnSync('rm', ['-r', folder]))
  const log = join(folder, 'calls')
  // instead of curl: notes its last argument and what it reads
  writeFileSync(
    join(folder, 'curl'),
    `#!/bin/sh\nfor last; do :; done\ncase "$*" in *@-*) body=$(cat) ;; esac\necho "$last $body" >> ${log}\n`,
    { mode: 0o755 },
  )
  writeFileSync(join(folder, 'backup'), '#!/bin/sh\necho half done\necho broken >&2\nexit 3\n', { mode: 0o755 })
  const [curl, cron] = buildSnippets(URL)
  for (const text of [curl!.parts[1]!.code, cron!.parts[1]!.code.replace('0 3 * * * ', '')]) {
    writeFileSync(log, '')
    const script = text.replaceAll('/usr/local/bin/backup', join(folder, 'backup'))
    spawnSync('/bin/sh', ['-c', script], { env: { PATH: `${folder}:/usr/bin:/bin` } })
    t.same(readFileSync(log, 'utf8').trim().split('\n'), [`${URL}/start `, `${URL}/3 half done`, 'broken'])
  }
})
