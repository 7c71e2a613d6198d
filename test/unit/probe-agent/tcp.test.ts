import type { Socket } from 'node:net'
import t from 'tap'
import { type CheckExecution, runCheck } from '../../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../../shared/checks/check.ts'
import { Outcome } from '../../../shared/checks/result.ts'
import { createEgress } from '../../../shared/egress/index.ts'
import { attemptWithGrowingTimeout } from '../../support/growing-timeout.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { createCheckSpec } from '../../support/spec.ts'
import type { Teardown } from '../../support/teardown.ts'

const egress = createEgress({ allow: ['127.0.0.1'] })

async function check(
  t: Teardown,
  handle: (socket: Socket) => void,
  parts: Partial<CheckSpec>,
): Promise<CheckExecution> {
  const port = await startRawServer(t, handle)
  return runCheck(createCheckSpec({ type: 'tcp', url: `127.0.0.1:${port}`, timeoutMs: 60_000, ...parts }), egress)
}

const greets = (socket: Socket) => void socket.write('220 mail.example ESMTP ready\r\n')
const stalls = () => {}
const echoes = (socket: Socket) => void socket.on('data', data => socket.write(`you said ${data}`))
const closes = (socket: Socket) => void socket.end()
const drips = (socket: Socket) => {
  const timer = setInterval(() => socket.write('drip '), 1)
  socket.on('close', () => clearInterval(timer))
}
const inPieces = (socket: Socket) => {
  socket.write('220 mail.exa')
  setTimeout(() => socket.write('mple ESMTP rea'), 60)
  setTimeout(() => socket.write('dy\r\n'), 120)
}

/** `endsAtTimeout`: nothing else ends the check, so its timeout is short */
type Row = [
  what: string,
  handle: (socket: Socket) => void,
  parts: Partial<CheckSpec>,
  code: string | undefined,
  endsAtTimeout?: 'endsAtTimeout',
]
const rows: Row[] = [
  ['says the keyword', greets, { keyword: 'ESMTP' }, undefined],
  ['says it in pieces', inPieces, { keyword: 'ESMTP ready' }, undefined],
  ['matches an expression', greets, { keyword: '^220 .*ready', keywordType: 'regex' }, undefined],
  ['answers what was sent', echoes, { body: 'PING\r\n', keyword: 'you said PING' }, undefined],
  ['says something else', greets, { keyword: 'IMAP' }, 'keyword_missing', 'endsAtTimeout'],
  ['closes without a word', closes, { keyword: 'ESMTP' }, 'keyword_missing'],
  ['accepts and stalls', stalls, { keyword: 'ESMTP' }, 'timeout', 'endsAtTimeout'],
  ['stalls on what was sent', stalls, { body: 'PING', keyword: 'PONG' }, 'timeout', 'endsAtTimeout'],
  ['says what must not come', greets, { keyword: 'ESMTP', keywordType: 'not_contains' }, 'keyword_found'],
  ['does not say what must not come', greets, { keyword: 'closed', keywordType: 'not_contains' }, undefined],
  ['drips for ever without the keyword', drips, { keyword: 'flood' }, 'keyword_missing', 'endsAtTimeout'],
  ['is only sent something', stalls, { body: 'hello' }, undefined],
]

t.test('A tcp target is up with the expected answer, else down with the reason', async t => {
  await Promise.all(
    rows.map(async ([what, handle, parts, code, endsAtTimeout]) => {
      const { observation, outcome } = endsAtTimeout
        ? await attemptWithGrowingTimeout(
            timeoutMs => check(t, handle, { ...parts, timeoutMs }),
            ran => ran.observation.error?.code === code,
          )
        : await check(t, handle, parts)
      t.equal(observation.error?.code, code, `one that ${what}: ${code ?? 'up'}`)
      t.equal(outcome, code === undefined ? Outcome.UP : Outcome.DOWN, what)
    }),
  )
})

t.test('A body is sent unchanged', async t => {
  let received = ''
  const parts = { body: 'EHLO grüße\\r\\n\x01', keyword: 'ok' }
  const { outcome } = await check(
    t,
    socket =>
      socket.on('data', data => {
        received += data
        socket.write('ok')
      }),
    parts,
  )
  t.equal(outcome, Outcome.UP)
  t.equal(received, parts.body)
})

t.test('A keyword is searched in the first 64 KiB, and reading ends there', async t => {
  const flood = (socket: Socket) => {
    const more = () => void (socket.write('x'.repeat(16_384)) ? setImmediate(more) : socket.once('drain', more))
    more()
  }
  const { observation } = await check(t, flood, { keyword: 'flood' })
  t.equal(observation.error?.code, 'keyword_missing')
  t.equal(observation.body?.length, 65_536)
})

t.test('Assertions read the answer of a tcp target', async t => {
  const assertions = [{ type: 'body', operator: 'contains', value: 'ESMTP' }]
  t.equal((await check(t, greets, { assertions })).outcome, Outcome.UP)
  const wrong = [{ type: 'body', operator: 'contains', value: 'IMAP' }]
  t.match(await check(t, greets, { assertions: wrong }), { outcome: Outcome.DOWN })
})
