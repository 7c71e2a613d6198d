import t from 'tap'
import { chromiumPath } from '../support/chromium-path.ts'
import { startPicket } from '../support/picket.ts'
import { type Behaviour, startTarget, type Target } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 40 s

const picket = await startPicket(t, { regions: [] })
// a regular comparison is made once a day only, so each one here has another reason
await picket.addProbe('us-east', {
  CHROMIUM_PATH: chromiumPath(),
  ...{ SCREENSHOT_TIMEOUT_SECONDS: '120', SCREENSHOT_NO_SANDBOX: '1', SCREENSHOT_COMPARE_SECONDS: '86400' },
})
const { api } = picket

const page = (colour: string, head = ''): Behaviour => ({
  kind: 'answer',
  headers: { 'content-type': 'text/html' },
  body: `${head}<body style="background:${colour}">`,
})
const [WHITE, DARK] = [page('#ffffff'), page('#202020')]

/** Dark until the browser has loaded its style sheet. */
const STYLED = page('#202020', '<link rel="stylesheet" href="/style.css">')
const STYLE_SHEET: Behaviour = {
  kind: 'answer',
  headers: { 'content-type': 'text/css' },
  body: 'body { background: #ffffff !important }',
}

type Shot = { kind: string; difference: number | null }

/** A monitor of a target, with its baseline. */
async function startMonitor(behave: (target: Target) => void) {
  const target = await startTarget(t)
  behave(target)
  const shop = { name: 'Shop', type: 'http', url: target.url, retry_count: 0, regions: ['us-east'] }
  const { body } = await api.post('/monitors', { ...shop, screenshot_compare: true, screenshot_threshold: 0.2 })
  const path = `/monitors/${body.data.id}`
  const shots = async (): Promise<Shot[]> => (await api.get(`${path}/screenshots`)).body.data
  const check = async () => (await api.post(`${path}/check`)).body.data.results[0].status
  await waitFor(async () => (await shots()).some(({ kind }) => kind === 'baseline'), { label: 'a baseline' })
  return { target, path, shots, check }
}

t.test('A page that differs is captured again at once, and the repaired page of a resumed monitor is up', async t => {
  const { target, path, shots, check } = await startMonitor(target => target.behave(WHITE))
  await api.post(`${path}/pause`)
  target.behave(DARK)
  await api.post(`${path}/resume`)
  await waitFor(async () => (await check()) === 'degraded', { everyMs: 500, label: 'degraded' })
  t.match(await shots(), [{ difference: 1 }, { difference: 1 }, { kind: 'baseline' }])

  await api.post(`${path}/pause`)
  target.behave(WHITE)
  await api.post(`${path}/resume`)
  await waitFor(async () => (await api.get(path)).body.data.status === 'up', { label: 'up' })
  t.match((await api.get(`${path}/transitions`)).body.data[0], { from: null, to: 'up' })
  t.equal(await check(), 'up')
})

t.test('One picture of a page that was not loaded completely changes no result', async t => {
  const { target, path, shots, check } = await startMonitor(target => {
    target.behave(STYLED)
    target.behaveAt('/style.css', STYLE_SHEET)
  })
  const countLoads = () => target.requests.filter(({ path: of }) => of === '/style.css').length
  const before = countLoads()
  target.behaveAt('/style.css', { kind: 'answer', status: 503 })
  await api.put(path, { headers: { 'X-Shop': '1' } })
  await waitFor(() => countLoads() > before, { label: 'a page without its style sheet' })
  target.behaveAt('/style.css', STYLE_SHEET)
  await waitFor(async () => (await shots()).length === 3, { label: 'a second picture' })
  t.match(await shots(), [{ difference: 0 }, { difference: 1 }, { kind: 'baseline' }])
  t.equal(await check(), 'up')
  t.match((await api.get(`${path}/transitions`)).body.data, [{ from: null, to: 'up' }])
})

t.test('The first picture of a new address becomes its baseline', async t => {
  const { target, path, shots, check } = await startMonitor(target => target.behave(WHITE))
  target.behaveAt('/dark', DARK)
  await api.put(path, { url: `${target.url}dark` })
  await waitFor(
    async () => (await shots()).filter(({ kind }) => kind === 'baseline').length === 1 && (await shots()).length === 2,
    {
      label: 'the picture of the new address',
    },
  )
  t.match(await shots(), [{ kind: 'baseline', difference: null }, { kind: 'comparison' }])
  t.equal(await check(), 'up')
})
