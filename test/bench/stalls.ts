/**
 * The longest answer of `/healthz` while one hostile body is worked on: how long a request holds the event loop. Each
 * body is sent several times, each in turn with a pause of 100 ms; a process of its own asks for `/healthz` all the time.
 * The difference of the two is in the figure: on a busy machine `/healthz` waits for others too.
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
const BADGES = 160
const VISITS = 50
const JSON_TYPE = 'application/json'

type Attack = { what: string; mostMs: number; send(): Promise<unknown> }

export async function benchStalls(t: Teardown): Promise<Figure[]> {
  const watcher = fork(import.meta.filename, ['watch'])
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => [watcher, target].forEach(child => void child.kill()))
  const [port] = await once(target, 'message')
  const picket = await startPicket(t, { regions: [] })
  const longestDuring = async (send: () => Promise<unknown>) => {
    watcher.send(`${picket.origin}/healthz`)
    await pause(50)
    await send()
    await pause(50)
    watcher.send('end')
    return Number((await once(watcher, 'message'))[0])
  }
  const figures: Figure[] = []
  for (const { what, mostMs, send } of attacks(picket, Number(port))) {
    await send()
    const pairs: { quiet: number; busy: number }[] = []
    for (let i = 0; i < ROUNDS; i++) {
      pairs.push({ quiet: await longestDuring(() => pause(100)), busy: await longestDuring(send) })
    }
    const busy = pairs.map(pair => pair.busy)
    const quiet = percentile(
      pairs.map(pair => pair.quiet),
      0.5,
    )
    const [p50, max] = [percentile(busy, 0.5), Math.max(...busy)]
    const text = `${p50.toFixed(1)} / ${max.toFixed(1)} ms; without it ${quiet.toFixed(1)} ms`
    figures.push(figure(what, text, `p50 ≤ ${mostMs} ms more`, p50 - quiet <= mostMs))
  }
  return [...figures, await benchBadges(picket)]
}

function attacks({ origin, apiKey }: Picket, port: number): Attack[] {
  const values = `[${'1,'.repeat(520_000)}1]`
  const bulk = (monitor: object) =>
    JSON.stringify({ monitors: Array.from({ length: 50 }, () => ({ name: 'x', type: 'http', ...monitor })) })
  const many = <T>(of: T) => Array.from({ length: 900 }, () => of)
  const send =
    (path: string, body: string, key: string | null = apiKey, type = JSON_TYPE) =>
    async () => {
      const headers = { 'content-type': type, ...(key !== null && { authorization: `Bearer ${key}` }) }
      await fetch(`${origin}/api/v1${path}`, { method: 'POST', headers, body }).then(answer => answer.text())
    }
  const field = { path: 'x', name_template: '{{key}}', rule_type: 'truthy', rule_config: {} }
  const preview = JSON.stringify({ url: `http://127.0.0.1:${port}/`, fields: [field] })
  return [
    {
      what: `longest answer of /healthz (p50 / max of ${ROUNDS}) during: 1 MiB of values without a key`,
      mostMs: 5,
      send: send('/agent/bootstrap', values, null),
    },
    { what: '  1 MiB of values with a key', mostMs: 50, send: send('/monitors', values) },
    {
      what: '  bulk create, 50 times 900 empty assertions',
      mostMs: 50,
      send: send('/monitors/bulk', bulk({ assertions: many({}) })),
    },
    {
      what: '  bulk create, 50 times 900 wrong regions',
      mostMs: 50,
      send: send('/monitors/bulk', bulk({ regions: many('nowhere') })),
    },
    { what: '  preview of a document of 5 MiB', mostMs: 50, send: send('/data-sources/preview', preview) },
    {
      what: '  import of 1 MiB of YAML',
      mostMs: 50,
      send: send(
        '/import?dry_run=true',
        `text: ${'x'.repeat(840_000)}\nlist:\n${'- 1\n'.repeat(45_000)}`,
        apiKey,
        'application/yaml',
      ),
    },
  ]
}

/** What a visit of a page takes right after a crowd of badges that were not asked for before. */
async function benchBadges({ origin, api }: Picket): Promise<Figure> {
  const { status, body } = await api.post('/status-pages', { name: 'Page', slug: 'stalls' })
  if (status !== 201) throw new Error(`no page: ${JSON.stringify(body)}`)
  await api.put(`/status-pages/${body.data.id}`, { is_published: true })
  const page = `${origin}/status/stalls`
  const visit = async () => {
    const startedMs = performance.now()
    const answer = await fetch(page, { headers: { 'accept-encoding': 'br' } })
    await answer.text()
    if (answer.status !== 200) throw new Error(`the page answers ${answer.status}`)
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

/** Asks again and again from when it is given an address until `end`; answers the longest time. */
function watch(): void {
  let url = ''
  let longestMs = 0
  const ask = async (asked: string) => {
    longestMs = 0
    while (url === asked) {
      const startedMs = performance.now()
      await fetch(asked).then(answer => answer.text())
      longestMs = Math.max(longestMs, performance.now() - startedMs)
    }
    process.send?.(longestMs)
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
