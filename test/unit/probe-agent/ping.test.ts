import t from 'tap'
import { FailureSource, Outcome } from '../../../shared/checks/result.ts'
import { createInternalFailure } from '../../../shared/egress/failure.ts'
import { createDeadline, createEgress, pingHost } from '../../../shared/egress/index.ts'
import { attemptWithGrowingTimeout } from '../../support/growing-timeout.ts'
import { hasOwnNetwork, runInOwnNetwork, startInOwnNetwork } from '../../support/own-network.ts'
import type { PingObservation, PingScenario } from '../../support/ping-scenes.ts'
import { waitFor } from '../../support/wait.ts'

const SCENES = new URL('../../support/ping-scenes.ts', import.meta.url).pathname
/** In a process that does nothing else, and ends checks that were not waited for. */
const playAlone = (scene: PingScenario) => runInOwnNetwork<PingObservation>(SCENES, scene)

const { TARGET, INTERNAL } = FailureSource
const allowed = { sockets: 'allowed' } as const
const refused = { sockets: 'refused' } as const
const WAYS = [
  ['socket', allowed],
  ['ping program', refused],
] as const

t.test('A ping ends at its deadline, also when an echo could not be sent and another is not answered', async t => {
  const started: string[] = []
  const egress = createEgress({
    allow: ['192.0.2.0/24'],
    resolver: async () => ['192.0.2.1', '192.0.2.2'],
    icmp: () => ({
      kind: 'socket',
      socket: {
        start(address) {
          started.push(address)
          return { sent: 3, rttsUs: [], failure: createInternalFailure('local_resources', 'the send buffer is full') }
        },
        stop() {},
        isOpen: () => true,
      },
    }),
  })
  const deadline = createDeadline(50)
  const { error } = await pingHost({ host: 'shop.test', count: 3, gapMs: 1 }, deadline.signal, egress)
  t.match(error, { source: INTERNAL, code: 'local_resources' })
  t.same(started, ['192.0.2.1'], 'no other address is tried after the deadline')
})

// Without network namespaces, kernel settings and lost packets cannot be tested.
if (hasOwnNetwork()) {
  const play = startInOwnNetwork<PingScenario, PingObservation>(t, SCENES)

  for (const [way, scene] of WAYS) {
    t.test(`ping by ${way}: A target that answers is up, over IPv4 and IPv6`, async t => {
      const hosts = ['127.0.0.1', '::1', 'ping://localhost', 'http://127.0.0.1:81/', '[0:0:0:0:0:0:0:1]']
      const addresses = ['127.0.0.1', '::1']
      const seen = await play({ ...scene, hosts, addresses })
      t.same(seen.ways, [way, way])
      for (const { outcome, observation } of seen.ran) {
        const { error, ping, totalUs, timings, dns } = observation
        t.same([outcome, error, dns], [Outcome.UP, null, undefined])
        t.match(ping, { sent: 3, received: 3 })
        t.ok(ping!.rttMinUs > 0 && ping!.rttMinUs <= ping!.rttAvgUs && ping!.rttAvgUs <= ping!.rttMaxUs)
        t.equal(totalUs, ping!.rttAvgUs, 'the response time is the average round trip')
        t.same(timings, { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: totalUs, transferUs: 0 })
      }
      t.same(
        seen.ran.map(({ observation }) => observation.resolvedIp),
        ['127.0.0.1', '::1', '127.0.0.1', '127.0.0.1', '::1'],
      )
    })

    t.test(`ping by ${way}: A target that never answers is down at the timeout`, async t => {
      const attempt = async (timeoutMs: number) => {
        const seen = await play({ ...scene, hosts: ['127.0.0.1', '::1'], lost: 1_000, timeoutMs })
        t.ok(seen.elapsedMs >= timeoutMs)
        return seen
      }
      const areSent = (one: PingObservation) => one.ran.every(({ observation }) => observation.ping?.sent === 3)
      const seen = await attemptWithGrowingTimeout(attempt, areSent)
      for (const { outcome, observation } of seen.ran) {
        t.equal(outcome, Outcome.DOWN)
        const message = 'none of 3 echoes was answered'
        t.same(observation.error, { source: TARGET, code: 'timeout', message })
        t.same(observation.ping, { sent: 3, received: 0, rttMinUs: 0, rttAvgUs: 0, rttMaxUs: 0 })
      }
    })

    t.test(`ping by ${way}: A target that loses some echoes is up, and the result has the loss`, async t => {
      // the third echo must arrive, however late this machine ends the loss
      const seen = await waitFor(
        async () => {
          const one = await playAlone({ ...scene, hosts: ['127.0.0.1', '::1'], lost: 2 })
          return one.isLossLate ? null : one
        },
        { label: 'a loss of exactly two echoes' },
      )
      for (const { outcome, observation } of seen.ran) {
        t.equal(outcome, Outcome.UP)
        t.match(observation.ping, { sent: 3, received: 1 })
      }
      t.equal(seen.ran.length, 2)
      t.equal(seen.hasTimerFired, false, 'lost echoes are not waited for until the timeout')
    })

    t.test(
      `ping by ${way}: An address without a route is an internal failure, unless another address works`,
      async t => {
        const hosts = ['192.0.2.1', '2001:db8::1', 'shop.test']
        const allow = ['0.0.0.0/0', '::/0']
        const seen = await play({ ...scene, hosts, allow, addresses: ['192.0.2.1', '127.0.0.1'] })
        const [v4, v6, both] = seen.ran
        for (const one of [v4, v6]) {
          t.match(one, { outcome: Outcome.UNKNOWN, observation: { error: { source: INTERNAL } } })
          t.match(one?.observation.error?.code, /^(network_unreachable|local_resources)$/)
        }
        t.match(both, { outcome: Outcome.UP, observation: { resolvedIp: '127.0.0.1' } })
      },
    )

    t.test(`ping by ${way}: Every address passes the egress guard`, async t => {
      const addresses = ['127.0.0.1', '10.0.0.1']
      const seen = await play({ ...scene, hosts: ['127.0.0.1', 'shop.test'], addresses, allow: ['10.0.0.0/8'] })
      for (const { observation } of seen.ran) {
        t.match(observation, { error: { code: 'blocked_target' }, ping: null, resolvedIp: null })
      }
    })
  }

  t.test('Many simultaneous pings use one socket, and each gets its own answers', async t => {
    const hosts = Array.from({ length: 400 }, (_, i) => (i % 4 === 0 ? '::1' : `127.0.${i >> 6}.${(i & 63) + 1}`))
    const seen = await play({ ...allowed, hosts })
    for (const { observation } of seen.ran) t.match(observation, { error: null, ping: { sent: 3, received: 3 } })
    t.ok(seen.echoesAtFirstEnd >= hosts.length, `${seen.echoesAtFirstEnd} echoes before the first check ended`)
  })

  t.test('A probe that cannot ping logs it, and its pings are internal failures', async t => {
    const seen = await play({ ...refused, program: 'no-such-program', hosts: ['127.0.0.1'] })
    t.same(seen.ways, ['none', 'none'])
    t.match(seen.ran, [{ outcome: Outcome.UNKNOWN, observation: { error: { code: 'icmp_unavailable' } } }])
  })
} else {
  t.comment('network namespaces are not available: only the parsers of ping are tested')
}
