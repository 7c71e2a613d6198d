/**
 * The longest answer of `/healthz` while one hostile body is processed: how long a request blocks the event loop. Each body is
 * sent several times, in turns with a pause of 100 ms. A separate process requests `/healthz` continuously. The figure is the
 * difference of the two: on a busy machine `/healthz` also waits for other processes.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Figure, figure, percentile } from './rig.ts'

const ROUNDS = 15
/** rounds of bodies that take seconds */
const FEW_ROUNDS = 5
const MONITORS = 5_000
const BADGES = 160
const VISITS = 50
const JSON_TYPE = 'application/json'

type Attack = { what: string; maxMs: number; rounds?: number; send(): Promise<unknown> }

export async function benchStalls(t: Teardown): Promise<Figure[]> {
  const watcher = fork(import.meta.filename, ['watch'])
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => [watcher, target].forEach(child => void child.kill()))
  const [port] = await once(target, 'message')
  const picket = await startPicket(t, { regions: [] })
  const measureMaxMs = async (send: () => Promise<unknown>) => {
    watcher.send(`${picket.origin}/healthz`)
    await pause(50)
    await send()
    await pause(50)
    watcher.send('end')
    return Number((await once(watcher, 'message'))[0])
  }
  const figures: Figure[] = []
  for (const { what, maxMs, rounds = ROUNDS, send } of [
    ...attacks(picket, Number(port)),
    ...(await largeWorks(picket)),
  ]) {
    await send()
    const pairs: { quiet: number; busy: number }[] = []
    for (let i = 0; i < rounds; i++) {
      pairs.push({ quiet: await measureMaxMs(() => pause(100)), busy: await measureMaxMs(send) })
    }
    const busy = pairs.map(pair => pair.busy)
    const quiet = percentile(
      pairs.map(pair => pair.quiet),
      0.5,
    )
    const [p50, max] = [percentile(busy, 0.5), Math.max(...busy)]
    const text = `${p50.toFixed(1)} / ${max.toFixed(1)} ms; without it ${quiet.toFixed(1)} ms`
    figures.push(figure(what, text, `p50 ≤ ${maxMs} ms more`, p50 - quiet <= maxMs))
  }
  return [...figures, await benchBadges(picket)]
}

/** `body`: called for each request */
function sender({ origin, apiKey }: Picket) {
  return (path: string, body?: () => string, options: { method?: string; key?: string | null; type?: string } = {}) =>
    async () => {
      const { method = 'POST', key = apiKey, type = JSON_TYPE } = options
      const headers = { ...(body && { 'content-type': type }), ...(key !== null && { authorization: `Bearer ${key}` }) }
      const answer = await fetch(`${origin}/api/v1${path}`, { method, headers, ...(body && { body: body() }) })
      await answer.text()
      return answer.status
    }
}

/** Permitted requests of the maximum size. */
async function largeWorks(picket: Picket): Promise<Attack[]> {
  const send = sender(picket)
  const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
  const monitor = (i: number) => ({ name: `Shop ${i}`, type: 'http', url: `https://shop${i}.example.com/` })
  const file = JSON.stringify({ version: 1, monitors: list(MONITORS, monitor) })
  const kuma = JSON.stringify({ monitorList: list(9_000, i => ({ id: i, ...monitor(i) })) })
  const assertions = list(50, i => ({
    ...{ type: 'body', operator: 'matches', value: `(?:[a-z0-9_.-]{1,20}@[a-z]{1,20}){10}${i}` },
  }))
  const bulk = JSON.stringify({ monitors: list(50, i => ({ ...monitor(i), assertions })) })
  const { body: page } = await picket.api.post('/status-pages', { name: 'Styles', slug: 'styles' })
  let changes = 0
  const styles = () => JSON.stringify({ custom_css: `.a${++changes}{}${'a{}'.repeat(20_000)}` })
  const status = await send('/import?dry_run=false', () => file)()
  if (status !== 200) throw new Error(`monitors were not created: status ${status}`)
  const works = [
    {
      what: `  plan of an import of ${MONITORS} monitors (p50 / max of ${FEW_ROUNDS}, these five)`,
      send: send('/import', () => file),
    },
    { what: '  plan of 9,000 entries of Uptime Kuma', send: send('/import?from=uptime-kuma', () => kuma) },
    { what: `  export of ${MONITORS} monitors as YAML`, send: send('/export', undefined, { method: 'GET' }) },
    { what: '  bulk create, 50 times 50 regular expressions', send: send('/monitors/bulk', () => bulk) },
    {
      what: '  styles of 64 KiB',

      send: send(`/status-pages/${page.data.id}`, styles, { method: 'PUT' }),
    },
  ]
  return works.map(work => ({ ...work, maxMs: 50, rounds: FEW_ROUNDS }))
}

function attacks(picket: Picket, port: number): Attack[] {
  const values = `[${'1,'.repeat(520_000)}1]`
  const bulk = (monitor: object) =>
    JSON.stringify({ monitors: Array.from({ length: 50 }, () => ({ name: 'x', type: 'http', ...monitor })) })
  const many = <T>(of: T) => Array.from({ length: 900 }, () => of)
  const send = sender(picket)
  const yaml = `text: ${'x'.repeat(840_000)}\nlist:\n${'- 1\n'.repeat(45_000)}`
  const field = { path: 'x', name_template: '{{key}}', rule_type: 'truthy', rule_config: {} }
  const preview = JSON.stringify({ url: `http://127.0.0.1:${port}/`, fields: [field] })
  return [
    {
      what: `longest answer of /healthz (p50 / max of ${ROUNDS}) during: 1 MiB of values without a key`,
      maxMs: 5,
      send: send('/agent/bootstrap', () => values, { key: null }),
    },
    { what: '  1 MiB of values with a key', maxMs: 50, send: send('/monitors', () => values) },
    {
      what: '  bulk create, 50 times 900 empty assertions',
      maxMs: 50,
      send: send('/monitors/bulk', () => bulk({ assertions: many({}) })),
    },
    {
      what: '  bulk create, 50 times 900 wrong regions',
      maxMs: 50,
      send: send('/monitors/bulk', () => bulk({ regions: many('nowhere') })),
    },
    { what: '  preview of a document of 5 MiB', maxMs: 50, send: send('/data-sources/preview', () => preview) },
    {
      what: '  import of 1 MiB of YAML',
      maxMs: 50,
      send: send('/import?dry_run=true', () => yaml, { type: 'application/yaml' }),
    },
  ]
}

/** The time of a page visit directly after many requests for new badges. */
async function benchBadges({ origin, api }: Picket): Promise<Figure> {
  const { status, body } = await api.post('/status-pages', { name: 'Page', slug: 'stalls' })
  if (status !== 201) throw new Error(`the page was not created: ${JSON.stringify(body)}`)
  await api.put(`/status-pages/${body.data.id}`, { is_published: true })
  const page = `${origin}/status/stalls`
  const visit = async () => {
    const startedMs = performance.now()
    const answer = await fetch(page, { headers: { 'accept-encoding': 'br' } })
    await answer.text()
    if (answer.status !== 200) throw new Error(`the page answered ${answer.status}`)
    return performance.now() - startedMs
  }
  const visits = async () => {
    const times: number[] = []
    for (let i = 0; i < VISITS; i++) times.push(await visit())
    return percentile(times, 0.5)
  }
  await visits()
  const before = await visits()
  await api.put(`/status-pages/${body.data.id}`, { name: 'Another name' })
  await pause(2_000)
  await Promise.all(
    Array.from({ length: BADGES }, (_, n) => fetch(`${page}/badge.svg?label=${n}`).then(answer => answer.text())),
  )
  const after = await visits()
  return figure(
    `  a visit of a page before and after ${BADGES} badges with other labels (p50 of ${VISITS})`,
    `${before.toFixed(1)}; ${after.toFixed(1)} ms`,
    '≤ 5 ms',
    after <= 5,
  )
}

/** Sends requests from the moment it receives a URL until `end`, and returns the longest time. */
function watch(): void {
  let url = ''
  let maxMs = 0
  const ask = async (asked: string) => {
    maxMs = 0
    while (url === asked) {
      const startedMs = performance.now()
      await fetch(asked).then(answer => answer.text())
      maxMs = Math.max(maxMs, performance.now() - startedMs)
    }
    process.send?.(maxMs)
  }
  process.on('message', (message: string) => {
    url = message
    if (message !== 'end') void ask(message)
  })
}

async function serve(): Promise<void> {
  const body = `{"x":"y","rest":[${'[],'.repeat(1_600_000)}[]]}`
  const server = createServer((_, answer) => answer.setHeader('content-type', JSON_TYPE).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send?.((server.address() as AddressInfo).port)
}

if (process.argv[2] === 'watch') watch()
if (process.argv[2] === 'serve') await serve()
