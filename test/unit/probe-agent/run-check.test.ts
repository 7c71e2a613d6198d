import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { findKeywordError } from '../../../probe-agent/checks/keyword-error.ts'
import { createSelfTest } from '../../../probe-agent/execution/own-faults/self-test.ts'
import { type CheckExecution, runCheck } from '../../../probe-agent/execution/run-check.ts'
import { FailureSource, type Observation, Outcome } from '../../../shared/checks/result.ts'
import { createEgress, createResolver } from '../../../shared/egress/index.ts'
import { startBlackHole } from '../../support/black-hole.ts'
import { createAuthority } from '../../support/certificates.ts'
import { startDnsServer } from '../../support/raw-server.ts'
import { createCheckSpec } from '../../support/spec.ts'
import { startTarget } from '../../support/target.ts'

const egress = createEgress({ allow: ['127.0.0.0/8'] })
const slow = { type: 'response_time', operator: 'less_than', value: '0' }
const wrong = { type: 'body', operator: 'equals', value: 'else' }
const right = { type: 'body', operator: 'equals', value: 'ok' }

const NO_FILES = { hosts: '/nonexistent', servers: '/nonexistent' }

t.test('A check is up, degraded or down by its target and its assertions', async t => {
  const { url } = await startTarget(t)
  t.match(await runCheck(createCheckSpec({ url }), egress), { outcome: Outcome.UP, failedAssertions: [] })
  t.match(await runCheck(createCheckSpec({ url, assertions: [right] }), egress), { outcome: Outcome.UP })
  const degraded = await runCheck(createCheckSpec({ url, assertions: [right, slow] }), egress)
  t.match(degraded, { outcome: Outcome.DEGRADED, observation: { error: null }, failedAssertions: [slow] })
  const down = await runCheck(createCheckSpec({ url, assertions: [slow, wrong] }), egress)
  t.match(down, {
    outcome: Outcome.DOWN,
    failedAssertions: [slow, { ...wrong, actual: 'ok' }],
    observation: {
      error: {
        source: FailureSource.TARGET,
        code: 'assertion_failed',
        message: 'assertion failed: body equals else; actual: ok',
      },
    },
  })
})

t.test('A target that hangs is down after its timeout, not before', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'hang', after: 'connect' })
  const startedMs = performance.now()
  const { outcome, observation } = await runCheck(createCheckSpec({ url: target.url, timeoutMs: 1_000 }), egress)
  t.ok(performance.now() - startedMs >= 1_000)
  t.equal(outcome, Outcome.DOWN)
  t.match(observation.error, { code: 'timeout', source: FailureSource.TARGET })
})

t.test('Time in which the probe was blocked does not count against the target', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', delayMs: 20 })
  const running = runCheck(createCheckSpec({ url: target.url, timeoutMs: 500 }), egress)
  // four times the timeout: what is left of it, and as much again as it was late, is enough on any machine
  setTimeout(() => {
    const until = performance.now() + 2_000
    while (performance.now() < until);
  }, 5)
  t.equal((await running).outcome, Outcome.UP)
})

t.test('An address that answers while the probe is blocked is not given up', async t => {
  const target = await startTarget(t)
  const resolver = async () => ['127.0.0.1', '127.0.0.2']
  const guard = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const url = `http://two.example:${target.port}/`
  const running = runCheck(createCheckSpec({ url, timeoutMs: 60_000 }), guard)
  // the connection has been started, and is answered meanwhile
  setImmediate(() => {
    const until = performance.now() + 2_200
    while (performance.now() < until);
  })
  t.match(await running, { outcome: Outcome.UP, observation: { resolvedIp: '127.0.0.1' } })
})

t.test('The age of a certificate is that of the clock that the probe is given', async t => {
  const authority = createAuthority(t)
  const server = createServer(authority.issue('good.example', -1, 30), (_, response) => response.end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const guard = createEgress({ allow: ['127.0.0.1'], resolver: async () => ['127.0.0.1'], trust: [authority.ca] })
  const url = `https://good.example:${(server.address() as AddressInfo).port}/`
  const assertions = [{ type: 'certificate_days', operator: 'greater_than', value: '10' }]
  const check = (days: number) =>
    runCheck(createCheckSpec({ url, assertions }), guard, { nowMs: () => Date.now() + days * 86_400_000 })
  t.equal((await check(0)).outcome, Outcome.UP)
  t.match(await check(25), { outcome: Outcome.DOWN, observation: { error: { code: 'assertion_failed' } } })
})

t.test('A keyword that is searched beyond the deadline of the check is unknown', async t => {
  const spec = createCheckSpec({ url: 'http://127.0.0.1/', type: 'keyword', keyword: 'ok', timeoutMs: 1 })
  const observation = { totalUs: 0, headers: null, body: Buffer.alloc(1024 * 1024, 'ok') } as unknown as Observation
  t.match(await findKeywordError({ spec, observation, nowMs: 0, tenant: 0 }), {
    ...{ source: FailureSource.INTERNAL, code: 'timeout' },
  })
})

t.test('Faults of the probe are unknown, never down', async t => {
  const { url } = await startTarget(t)
  const assertions = [{ type: 'nonsense', operator: 'equals', value: '' }]
  const broken = [
    createCheckSpec({ url: 'nonsense' }),
    createCheckSpec({ url, type: 'heartbeat' }),
    createCheckSpec({ url, type: 'toString' }),
    createCheckSpec({ url, type: 'keyword' }),
    createCheckSpec({ url, assertions }),
    createCheckSpec({ url, headers: { 'b a d': 'x' } }),
  ]
  for (const spec of broken) {
    const ran = await runCheck(spec, egress)
    t.equal(ran.outcome, Outcome.UNKNOWN, `${spec.type} ${spec.url}`)
    t.match(ran.observation.error, { source: FailureSource.INTERNAL, code: 'internal_error' })
  }
  t.match(await runCheck(createCheckSpec({ url: 'http://224.0.0.1/' }), createEgress({ allow: ['0.0.0.0/0'] })), {
    outcome: Outcome.UNKNOWN,
    observation: { error: { code: 'network_unreachable' } },
  })
})

t.test('A refused connection is down', async t => {
  const strict = createEgress({ allow: [] })
  const { outcome, observation } = await runCheck(createCheckSpec({ url: 'http://127.0.0.1/' }), strict)
  t.equal(outcome, Outcome.DOWN)
  t.match(observation.error, { code: 'blocked_target', message: /127\.0\.0\.1 is a loopback address/ })
})

t.test('A name that does not exist is down, whatever the self-test of the resolver reports', async t => {
  const resolver = createResolver({ servers: [await startDnsServer(t, () => 3)], files: NO_FILES })
  const guard = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const selfTest = createSelfTest({ targets: [], egress: guard })
  const ran = await runCheck(createCheckSpec({ url: 'http://gone.example/' }), guard, { selfTest })
  t.match(ran, {
    outcome: Outcome.DOWN,
    observation: { error: { code: 'dns_not_found', source: FailureSource.TARGET } },
  })
})

t.test('A failing resolver makes a target down, and a failing resolver of the probe makes it unknown', async t => {
  const servers = [await startDnsServer(t, name => (name.endsWith('.root-servers.net') ? ['198.41.0.4'] : 2))]
  const broken = [await startDnsServer(t, () => 2)]
  const ran: CheckExecution[] = []
  for (const list of [servers, broken]) {
    const guard = createEgress({ allow: ['0.0.0.0/0'], resolver: createResolver({ servers: list, files: NO_FILES }) })
    const selfTest = createSelfTest({ targets: [], egress: guard })
    ran.push(await runCheck(createCheckSpec({ url: 'http://ill.example/' }), guard, { selfTest }))
  }
  t.match(ran[0], {
    outcome: Outcome.DOWN,
    observation: { error: { source: FailureSource.RESOLVER, code: 'dns_failed' } },
  })
  t.match(ran[1], {
    outcome: Outcome.UNKNOWN,
    observation: { error: { source: FailureSource.INTERNAL, code: 'probe_offline' } },
  })
})

t.test('A probe without a connection never reports down', async t => {
  const [hole, target] = [await startBlackHole(t), await startTarget(t)]
  const dark = createCheckSpec({ url: `http://127.0.0.1:${hole}/`, timeoutMs: 200 })
  const offline = createSelfTest({ targets: [{ host: '127.0.0.1', port: hole }] })
  t.match(await runCheck(dark, egress, { selfTest: offline }), {
    outcome: Outcome.UNKNOWN,
    observation: { error: { code: 'probe_offline' } },
  })
  t.equal(offline.isOnline(), false)
  const online = createSelfTest({
    targets: [
      { host: '127.0.0.1', port: hole },
      { host: '127.0.0.1', port: target.port },
    ],
  })
  t.match(await runCheck(dark, egress, { selfTest: online }), { outcome: Outcome.DOWN })
  t.equal(online.isOnline(), true)
})
