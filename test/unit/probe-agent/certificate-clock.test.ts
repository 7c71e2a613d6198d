import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { runCheck } from '../../../probe-agent/execution/run-check.ts'
import { FailureSource, Outcome } from '../../../shared/checks/result.ts'
import { createEgress } from '../../../shared/egress/index.ts'
import { createAuthority, type KeyPair } from '../../support/certificates.ts'
import { createCheckSpec } from '../../support/spec.ts'
import type { Teardown } from '../../support/teardown.ts'

const authority = createAuthority(t)
const egress = createEgress({ allow: ['127.0.0.1'], resolver: async () => ['127.0.0.1'], trust: [authority.ca] })
const DAY_MS = 86_400_000

/** Checks a site with this certificate on a machine whose clock is wrong: the right time is `days` after its own. */
async function checkWith(t: Teardown, pair: KeyPair, days: number) {
  const server = createServer(pair, (_request, response) => response.end('ok'))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const spec = createCheckSpec({ url: `https://shop.example:${(server.address() as AddressInfo).port}/` })
  const machineMs = Date.now()
  return runCheck(spec, egress, { nowMs: () => machineMs + days * DAY_MS, machineMs: () => machineMs })
}

const EXPIRED = { source: FailureSource.TARGET, code: 'tls_error', message: 'the certificate has expired' }
const WRONG = { source: FailureSource.INTERNAL, code: 'wrong_clock' }
const ROWS: [
  title: string,
  span: [fromDays: number, toDays: number],
  days: number,
  outcome: Outcome,
  error: object | null,
][] = [
  ['A certificate that was renewed, on a machine whose clock is behind, is unknown', [3, 8], 5, Outcome.UNKNOWN, WRONG],
  ['A certificate that is valid, on a machine whose clock is ahead, is unknown', [-8, -3], -5, Outcome.UNKNOWN, WRONG],
  [
    'A certificate that has expired is an outage, although the clock of the machine is behind',
    [-1, 3],
    5,
    Outcome.DOWN,
    EXPIRED,
  ],
  ['A certificate that has expired by both clocks is an outage', [-8, -3], 1, Outcome.DOWN, EXPIRED],
  ['A certificate that has expired is an outage on a machine with the right clock', [-8, -3], 0, Outcome.DOWN, EXPIRED],
  ['A certificate that is valid by both clocks is up', [-1, 8], 3, Outcome.UP, null],
]
for (const [title, [fromDays, toDays], days, outcome, error] of ROWS)
  t.test(title, async t => {
    const ran = await checkWith(t, authority.issue('shop.example', fromDays, toDays), days)
    t.equal(ran.outcome, outcome)
    if (error === null) t.equal(ran.observation.error, null)
    else t.match(ran.observation.error, error)
  })

t.test('A certificate that is not trusted is an outage, whatever the clock says', async t => {
  const { outcome, observation } = await checkWith(t, authority.selfSigned('shop.example'), 5)
  t.equal(outcome, Outcome.DOWN)
  t.match(observation.error, { source: FailureSource.TARGET, message: 'the certificate is self-signed' })
})

for (const days of [3, -3])
  t.test(
    `An expired certificate that is not needed for the trust is not an outage, on a clock wrong by ${days} days`,
    async t => {
      const pair = authority.crossSign(authority.issue('shop.example', -8, 8), -300, -30)
      const { outcome, observation } = await checkWith(t, pair, days)
      t.equal(observation.error, null)
      t.equal(outcome, Outcome.UP)
      t.match(observation.certificate?.issuerCertificate?.issuer, 'Old root', 'the server sent it')
    },
  )

t.test('A valid certificate that the machine refuses is unknown, although an expired one is sent with it', async t => {
  const pair = authority.crossSign(authority.issue('shop.example', 3, 8), -300, -30)
  const { outcome, observation } = await checkWith(t, pair, 5)
  t.equal(outcome, Outcome.UNKNOWN)
  t.match(observation.error, WRONG)
})

t.test(
  'An intermediate authority that has expired is an outage, although the clock of the machine is behind',
  async t => {
    const { outcome, observation } = await checkWith(t, authority.issueLong('shop.example', 1, 3), 5)
    t.equal(outcome, Outcome.DOWN)
    t.match(observation.error, EXPIRED)
  },
)

t.test('The message says by how much the clock is wrong', async t => {
  const { observation } = await checkWith(t, authority.issue('shop.example', 3, 8), 5)
  t.match(observation.error?.message, /^the clock of the probe's machine is 7200 min behind, so it cannot judge/)
})
