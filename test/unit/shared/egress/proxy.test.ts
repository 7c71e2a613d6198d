import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import t from 'tap'
import { startEgressProxy } from '../../../../shared/egress/http/proxy.ts'
import { createEgress } from '../../../../shared/egress/index.ts'
import { startTarget } from '../../../support/target.ts'
import type { Teardown } from '../../../support/teardown.ts'

/** A proxy that allows only 127.0.0.1; `rebound.example` has a refused address, `mixed.example` both. */
async function start(t: Teardown, maxBytes = 1_000_000) {
  const names: Record<string, string[]> = {
    'good.example': ['127.0.0.1'],
    'rebound.example': ['127.0.0.2'],
    'mixed.example': ['127.0.0.1', '127.0.0.2'],
  }
  const egress = createEgress({ allow: ['127.0.0.1'], resolver: async name => names[name] ?? [] })
  const proxy = await startEgressProxy(egress, { maxBytes, connectWithinMs: 60_000 })
  t.teardown(proxy.close)
  const ask = (path: string, method = 'GET') => request(proxy.url, { path, method, agent: false })
  return { proxy, ask }
}

/** The response through the proxy; null when it closed the connection without one. */
async function readAnswer(asked: ClientRequest): Promise<{ status: number; body: string } | null> {
  asked.end()
  try {
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }
  } catch {
    return null
  }
}

t.test('The proxy forwards a request only to allowed addresses, else it sends no response', async t => {
  const [{ ask, proxy }, target] = await Promise.all([start(t), startTarget(t)])
  target.behave({ kind: 'answer', status: 418, body: 'tea' })
  const rows: [string, boolean][] = [
    [`http://127.0.0.1:${target.port}/a?b=c`, true],
    [`http://good.example:${target.port}/`, true],
    [`http://127.0.0.2:${target.port}/`, false],
    [`http://rebound.example:${target.port}/`, false],
    [`http://mixed.example:${target.port}/`, false],
    [`http://2130706434:${target.port}/`, false],
    ['http://169.254.169.254/latest/meta-data', false],
    [`https://127.0.0.1:${target.port}/`, false],
    ['file:///etc/passwd', false],
    ['/', false],
  ]
  for (const [url, isReached] of rows) {
    t.same(await readAnswer(ask(url)), isReached ? { status: 418, body: 'tea' } : null, url)
  }
  t.same(
    target.requests.map(({ path, headers }) => [path, headers['proxy-connection']]),
    [
      ['/a?b=c', undefined],
      ['/', undefined],
    ],
  )
  t.equal(proxy.refused(), 5)
})

t.test('The proxy opens tunnels only to allowed addresses', async t => {
  const [{ ask }, target] = await Promise.all([start(t), startTarget(t)])
  const connect = async (place: string): Promise<Socket | null> => {
    const asked = ask(place, 'CONNECT').end()
    return Promise.race([
      once(asked, 'connect').then(([, socket]) => socket as Socket),
      once(asked, 'close').then(() => null),
    ]).catch(() => null)
  }
  const open = await connect(`good.example:${target.port}`)
  open?.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(String((await once(open!, 'data'))[0]), /^HTTP\/1.1 200/)
  const refused = ['127.0.0.2', 'rebound.example', '[::ffff:127.0.0.2]', '[::1]']
  for (const host of refused) t.equal(await connect(`${host}:${target.port}`), null, host)
  for (const place of ['good.example', 'a@good.example:80', 'good.example:99999'])
    t.equal(await connect(place), null, place)
})

t.test('Received bytes are limited over all connections', async t => {
  const [{ ask }, target] = await Promise.all([start(t, 100_000), startTarget(t)])
  target.behave({ kind: 'big', bytes: 60_000 })
  t.equal((await readAnswer(ask(target.url)))?.body.length, 60_000)
  t.equal(await readAnswer(ask(target.url)), null)
  t.equal(await readAnswer(ask(target.url)), null, 'and from then on there is nothing')
})

t.test('Sent bytes are limited over all connections', async t => {
  const [{ ask }, target] = await Promise.all([start(t, 100_000), startTarget(t)])
  const post = () => {
    const asked = ask(target.url, 'POST')
    asked.write(Buffer.alloc(60_000))
    return readAnswer(asked)
  }
  t.same(await post(), { status: 200, body: 'ok' })
  t.equal(await post(), null)
  t.equal(await readAnswer(ask(target.url)), null, 'and from then on there is nothing')
})
