import { h } from 'preact'
import t from 'tap'
import { FrameProvider, STATIC_TOOLS } from '../../../control-plane/dashboard/core/frame-context.ts'
import type { Execute, Outcome } from '../../../control-plane/dashboard/core/operations.ts'
import { CheckProgress } from '../../../control-plane/dashboard/screens/monitors/checks/check-progress.tsx'
import {
  type CheckRun,
  hasAll,
  selectArrived,
  useRequestedCheck,
} from '../../../control-plane/dashboard/screens/monitors/checks/requested-check.ts'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import { buildCheck } from '../../support/dashboard-answers.ts'
import { NOW } from '../../support/dashboard-fixtures.ts'
import { toText } from '../../support/dashboard-screens.tsx'
import { runHook } from '../../support/run-hook.ts'

const MONITOR = { id: 'm1', name: 'Shop', regions: ['us-east', 'eu-west'] }
const RUNNING: CheckRun = { number: 1, monitor: MONITOR, results: [], state: 'running', error: null }
const buildResult = (region: string, changes: Parameters<typeof buildCheck>[0] = {}) =>
  buildCheck({ id: region, region, trigger: 'run_now', ...changes })

const frame = { ...STATIC_TOOLS, nowMs: NOW, timeZone: 'UTC' }
const show = (check: CheckRun) => renderHtml(h(FrameProvider, { value: frame } as never, h(CheckProgress, { check })))
const read = (changes: Partial<CheckRun>) => toText(show({ ...RUNNING, ...changes }))

t.test('A requested check names the regions that have not answered, and shows the results of the others', async t => {
  t.match(read({}), 'Checking Shop from us-east, eu-west …')
  t.match(read({ results: [buildResult('eu-west')] }), 'Checking Shop from us-east … eu-west Up 200 in 812 ms')
  const failed = { type: 'status_code', operator: 'equals', value: '200', actual: '500' }
  const results = [
    buildResult('eu-west', { status: 'down', failed_assertions: [failed] }),
    buildResult('us-east', { status_code: null }),
  ]
  t.match(
    read({ results, state: 'ended' }),
    /Checked Shop now, at \d\d:\d\d:\d\d UTC : us-east Up ok in 812 ms eu-west Down status_code equals 200, but it is 500/,
  )
  const error = {
    source: 'internal',
    code: 'no_answer',
    message: 'the probe of us-east did not answer in time',
  } as const
  const html = show({ ...RUNNING, state: 'ended', results: [buildResult('us-east', { status: 'unknown', error })] })
  t.match(toText(html), 'us-east Unknown the probe of us-east did not answer in time')
  t.notMatch(html, /class="[^"]*\b(down|degraded|wrong)\b/, 'what is unknown is not shown as trouble')
})

t.test('A check that is refused has the reason in the words of the API', async t => {
  const error = { status: 409, code: 'conflict', message: 'the monitor is paused; resume it first' }
  const execute = (async (name: string) => (name === 'checkMonitor' ? { error } : { data: { data: [] } })) as Execute
  const running = runHook(t, { hook: useRequestedCheck, props: {}, frame: { execute } })
  await running.current.start(MONITOR)
  await running.waitUntil(({ check }) => check?.state === 'ended', 'the end')
  t.match(toText(show(running.current.check!)), 'Shop was not checked: the monitor is paused; resume it first.')
})

t.test('A second check of a monitor does not start while the first one runs', async t => {
  let answer = (_outcome: Outcome<unknown>) => {}
  const sent: string[] = []
  const execute = ((name: string) => {
    sent.push(name)
    if (name !== 'checkMonitor') return Promise.resolve({ data: { data: [] } })
    return new Promise<Outcome<unknown>>(resolve => {
      answer = resolve
    })
  }) as Execute
  const running = runHook(t, { hook: useRequestedCheck, props: {}, frame: { execute } })
  const first = running.current.start(MONITOR)
  await running.current.start(MONITOR)
  t.equal(sent.filter(name => name === 'checkMonitor').length, 1)
  answer({ error: { status: 409, code: 'conflict', message: 'no' } })
  await first
  void running.current.start(MONITOR)
  t.equal(sent.filter(name => name === 'checkMonitor').length, 2)
})

t.test(
  'A check is complete when the history has its results, also that of a re-check that was in progress',
  async t => {
    const joined = buildResult('us-east', { id: 'joined', trigger: 'schedule', attempt: 2 })
    const own = buildResult('eu-west', { id: 'own' })
    const unasked = buildResult('ap-south', { id: 'unasked', probe_id: null })
    t.ok(hasAll([own, joined], [joined, own, unasked]))
    t.notOk(hasAll([own], [joined, own, unasked]))
    t.same(selectArrived([], [joined, own]), [own], 'until the answer, only checks on demand are its results')
  },
)

t.test('Results that were in the history before the check are not taken for its results', async t => {
  const [old, fresh] = [buildResult('us-east', { id: 'old' }), buildResult('eu-west', { id: 'fresh' })]
  t.same(selectArrived([old], [fresh, old]), [fresh])
  const newer = buildResult('eu-west', { id: 'newer' })
  t.same(selectArrived([old], [newer, fresh, old]), [newer], 'the newest of a region')
})
