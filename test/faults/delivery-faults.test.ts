import { createHmac, timingSafeEqual } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { createAuthority } from '../support/certificates.ts'
import { createDeliveryQueue, SIGNING_SECRET } from '../support/delivery-queue.ts'
import { startRawServer } from '../support/raw-server.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'
import { startTlsServer } from '../support/tls-server.ts'

// takes about 35 s

const queue = await createDeliveryQueue(t)
const authority = createAuthority(t)
queue.startWorker(t, { trust: [authority.ca] })

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const GIGABYTE = 2 ** 30

/** Calls `once` for the first request and responds 200 to the others. Returns its URL. */
async function startMoody(t: Test, once: (write: (text: string) => boolean) => void): Promise<string> {
  let requests = 0
  const port = await startRawServer(t, socket =>
    socket.on('data', () => (requests++ === 0 ? once(text => socket.write(text)) : socket.write(OK))),
  )
  return `http://127.0.0.1:${port}/hook`
}

async function deliver(url: string) {
  const [id] = await queue.send(await queue.channel(url), 'monitor:a')
  const { status, attempts } = await queue.ended(id!)
  return { id, status, attempts, codes: attempts.map(one => one.response_code) }
}

/** The verification of the signature as a customer would write it. */
function isSigned(header: string, rawBody: string, secret: string): boolean {
  const [algorithm, hex = ''] = header.split('=')
  if (algorithm !== 'sha256') return false
  const expected = createHmac('sha256', secret).update(rawBody).digest('hex')
  if (expected.length !== hex.length) return false
  return timingSafeEqual(Buffer.from(expected), Buffer.from(hex))
}

/** The time for which this process could not run a timer counts for neither limit. */
const timers = monitorEventLoopDelay()
timers.enable()
t.teardown(() => timers.disable())

/** After ten seconds of the worker's clock. */
function isLeftInTime(t: Test, durationMs: number): void {
  const latestMs = 20_000 + timers.max / 1e6
  t.ok(durationMs >= 9_900 && durationMs < latestMs, `${durationMs} ms, at most ${latestMs} ms`)
}

const ANSWERS: [what: string, answers: Answer[], status: string, codes: (number | null)[]][] = [
  ['that accepts it', [200], 'delivered', [200]],
  ['that fails three times', [500, 502, 503], 'failed', [500, 502, 503]],
  [
    'that is busy and asks for half a minute',
    Array(2).fill({ status: 429, headers: { 'retry-after': '30' } }),
    'delivered',
    [429, 429, 200],
  ],
  ['that returns 410', [410], 'failed', [410]],
  ['that moved', [{ status: 301, headers: { location: 'http://127.0.0.1/' } }], 'failed', [301]],
  ['that cuts the connection', ['reset'], 'delivered', [null, 200]],
  ['that hangs', ['hang'], 'delivered', [null, 200]],
]

t.test('The outcome of a delivery depends on how its receiver responds', async t => {
  t.jobs = 20
  const rows: [what: string, run: (t: Test) => Promise<unknown>][] = [
    ...ANSWERS.map(([what, answers, status, codes]): [string, (t: Test) => Promise<void>] => [
      `${what} gets the same signed request until the delivery ends as ${status} after ${codes.map(code => code ?? 'nothing').join(', ')}`,
      async t => {
        const receiver = await startReceiver(t)
        receiver.answerWith(...answers)
        t.match(await deliver(receiver.url), { status, codes })
        t.equal(receiver.received.length, codes.length)
        for (const { rawBody, headers } of receiver.received) {
          t.equal(rawBody, receiver.received[0]?.rawBody)
          t.ok(isSigned(String(headers['x-service-signature']), rawBody, SIGNING_SECRET))
          t.ok(new Webhook(SIGNING_SECRET).verify(rawBody, headers as Record<string, string>))
        }
      },
    ]),
    [
      'that hangs in the middle of its response is aborted after 10 seconds, and the received part is stored',
      async t => {
        const url = await startMoody(t, write => write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nalmost'))
        const { codes, attempts } = await deliver(url)
        t.same(codes, [null, 200])
        t.match(attempts[0], { error: /timed out while receiving the response/, response_snippet: 'almost' })
        isLeftInTime(t, attempts[0]!.duration_ms)
      },
    ],
    [
      'that responds a byte at a time is aborted after 10 seconds',
      async t => {
        const url = await startMoody(t, write => {
          write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
          const drip = setInterval(() => write('x'), 200)
          t.teardown(() => clearInterval(drip))
        })
        const { codes, attempts } = await deliver(url)
        t.same(codes, [null, 200])
        isLeftInTime(t, attempts[0]!.duration_ms)
      },
    ],
    [
      'that responds with a gigabyte has accepted the event, and a kilobyte is stored',
      async t => {
        let writtenBytes = 0
        const chunk = 'x'.repeat(65_536)
        const url = await startMoody(t, write => {
          write(`HTTP/1.1 200 OK\r\nContent-Length: ${GIGABYTE}\r\n\r\n`)
          const more = () => {
            while (writtenBytes < GIGABYTE && write(chunk)) writtenBytes += chunk.length
          }
          const filling = setInterval(more, 1)
          t.teardown(() => clearInterval(filling))
        })
        const { status, attempts } = await deliver(url)
        t.equal(status, 'delivered')
        t.equal(attempts[0]!.response_snippet!.length, 1_024)
        t.ok(writtenBytes < GIGABYTE / 10, `${writtenBytes} bytes were read from it`)
      },
    ],
    [
      'with an untrusted certificate gets nothing, in three attempts',
      async t => {
        const port = await startTlsServer(t, authority.selfSigned('127.0.0.1'))
        const { status, attempts } = await deliver(`https://127.0.0.1:${port}/hook`)
        t.equal(status, 'failed')
        t.equal(attempts.length, 3)
        for (const one of attempts) t.match(one, { response_code: null, error: /certificate/ })
      },
    ],
    [
      'with a valid certificate accepts it',
      async t => {
        const port = await startTlsServer(t, authority.issue('127.0.0.1', -1, 30))
        t.match(await deliver(`https://127.0.0.1:${port}/hook`), { status: 'delivered', codes: [200] })
      },
    ],
  ]
  await Promise.all(rows.map(([what, run]) => t.test(`A receiver ${what}`, { buffered: true }, run)))
})
