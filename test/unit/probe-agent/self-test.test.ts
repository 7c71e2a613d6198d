import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ConnectivityEvidence, isNetworkOnline } from '../../../probe-agent/execution/own-faults/connectivity.ts'
import { createSelfTest } from '../../../probe-agent/execution/own-faults/self-test.ts'
import { FailureSource } from '../../../shared/checks/result.ts'
import { createEgress, EgressFailure } from '../../../shared/egress/index.ts'
import { nowUs } from '../../../shared/egress/monotonic.ts'
import { startBlackHole } from '../../support/black-hole.ts'
import { startTcpTarget } from '../../support/target.ts'
import { waitFor } from '../../support/wait.ts'

const rows: [title: string, evidence: ConnectivityEvidence, isOnline: boolean][] = [
  ['nothing is known', { tested: 0, reachable: 0, answered: 0, unanswered: 0 }, true],
  ['one target is silent', { tested: 0, reachable: 0, answered: 0, unanswered: 1 }, true],
  ['few targets are silent', { tested: 0, reachable: 0, answered: 0, unanswered: 9 }, true],
  ['many targets are silent, all of them', { tested: 0, reachable: 0, answered: 0, unanswered: 10 }, false],
  ['nearly all of many are silent', { tested: 0, reachable: 0, answered: 10, unanswered: 90 }, false],
  ['30 % of many are silent', { tested: 0, reachable: 0, answered: 700, unanswered: 300 }, true],
  [
    'all are silent, but an address of the self-test answers',
    { tested: 2, reachable: 1, answered: 0, unanswered: 500 },
    true,
  ],
  ['no address answers and nothing else is known', { tested: 2, reachable: 0, answered: 0, unanswered: 0 }, false],
  ['no address answers, but most targets do', { tested: 2, reachable: 0, answered: 3, unanswered: 1 }, true],
  ['no address answers, nor do most targets', { tested: 1, reachable: 0, answered: 1, unanswered: 1 }, false],
]

for (const [title, evidence, isOnline] of rows) {
  t.test(`a probe is ${isOnline ? 'online' : 'offline'} when ${title}`, async t => {
    t.equal(isNetworkOnline(evidence), isOnline)
  })
}

const silent = { source: FailureSource.TARGET, code: 'timeout', message: 'timed out while connecting' }

t.test('A self-test address that refuses the connection counts as reachable', async t => {
  const target = await startTcpTarget(t)
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: target.port }] })
  await selfTest.run()
  t.equal(selfTest.isOnline(), true)
  await target.close()
  await selfTest.run()
  t.equal(selfTest.isOnline(), true)
})

t.test('A probe without monitors tests itself rarely while it is online', async t => {
  const port = await startBlackHole(t)
  let lookups = 0
  let address = '127.0.0.9'
  const resolver = async () => {
    lookups++
    return [address]
  }
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const selfTest = createSelfTest({ targets: [{ host: 'control.example', port }], egress })
  await selfTest.run(true)
  t.equal(lookups, 2, 'the first test, with the resolver')
  // a result is used again for 250 ms
  const beganUs = nowUs()
  while (nowUs() - beganUs < 500_000) {
    await selfTest.run(true)
    await turn()
  }
  t.equal(lookups, 2, 'online: not tested again')
  address = '127.0.0.1'
  await selfTest.run()
  t.same([lookups, selfTest.isOnline()], [3, false], 'with monitors it is tested')
  address = '127.0.0.9'
  await selfTest.run(true)
  t.same([lookups, selfTest.isOnline()], [4, true], 'offline: tested again')
})

t.test('Failures that began before the connection recovered are internal', async t => {
  const port = await startBlackHole(t)
  let isCut = true
  const resolver = async () => [isCut ? '127.0.0.1' : '127.0.0.9']
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const selfTest = createSelfTest({ targets: [{ host: 'control.example', port }], egress })
  const startedUs = nowUs()
  await selfTest.run()
  t.equal(selfTest.isOnline(), false)
  isCut = false
  // 127.0.0.9 refuses on that port, which proves that the network is back.
  t.match(await selfTest.attributeFailure(silent, startedUs), { code: 'probe_offline', source: FailureSource.INTERNAL })
  t.equal(selfTest.isOnline(), true)
  t.same(await selfTest.attributeFailure(silent, nowUs()), silent)
})

t.test('A thousand simultaneous failures run one self-test', async t => {
  const target = await startTcpTarget(t)
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: target.port }] })
  const startedUs = nowUs()
  await Promise.all(Array.from({ length: 1000 }, () => selfTest.attributeFailure(silent, startedUs)))
  t.equal(target.connections(), 1)
})

t.test('Without addresses, a probe that loses all of many targets at once is offline until one answers', async t => {
  const selfTest = createSelfTest({ targets: [] })
  for (let i = 0; i < 20; i++) selfTest.recordCheck(`https://${i}.example/`, false)
  t.match(await selfTest.attributeFailure(silent, nowUs()), { code: 'probe_offline' })
  for (let i = 0; i < 20; i++) selfTest.recordCheck(`https://${i}.example/`, true)
  await waitFor(async () => {
    await selfTest.run()
    return selfTest.isOnline()
  })
})

t.test('Failures that began before the resolver recovered are internal', async t => {
  const target = await startTcpTarget(t)
  let isDeaf = true
  const resolver = async () => {
    if (isDeaf) throw new EgressFailure(FailureSource.RESOLVER, 'dns_timeout', 'the resolver does not answer')
    return ['127.0.0.1']
  }
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: target.port }], egress })
  const unresolved = { source: FailureSource.RESOLVER, code: 'dns_timeout', message: 'the resolver does not answer' }
  const startedUs = nowUs()
  t.match(await selfTest.attributeFailure(unresolved, startedUs), { code: 'probe_offline' })
  isDeaf = false
  await waitFor(async () => (await selfTest.attributeFailure(unresolved, nowUs())).code !== 'probe_offline')
  t.match(
    await selfTest.attributeFailure(unresolved, startedUs),
    { code: 'probe_offline' },
    'it began while the resolver was gone',
  )
  t.same(await selfTest.attributeFailure(unresolved, nowUs()), unresolved)
})

/** A probe whose resolver says that names of the test do not exist while it works. */
async function startResolving(t: Test, isDeafAtFirst: boolean) {
  const target = await startTcpTarget(t)
  const state = { isDeaf: isDeafAtFirst, asked: [] as string[] }
  const resolver = async (name: string) => {
    state.asked.push(name)
    if (state.isDeaf) throw new EgressFailure(FailureSource.RESOLVER, 'dns_failed', 'the resolver answered SERVFAIL')
    throw new EgressFailure(FailureSource.TARGET, 'dns_not_found', 'the name does not exist')
  }
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver })
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: target.port }], egress })
  await selfTest.run()
  const failed = { source: FailureSource.RESOLVER, code: 'dns_failed', message: 'the resolver answered SERVFAIL' }
  /** waits until the result of an earlier test is not used any more */
  const fail = async () => {
    const before = state.asked.length
    await waitFor(async () => {
      t.type((await selfTest.attributeFailure(failed, nowUs())).code, 'string')
      return state.asked.length > before
    })
  }
  return { selfTest, state, fail }
}

t.test('A probe whose resolver does not answer is offline until the resolver answers a new name', async t => {
  const { selfTest, state, fail } = await startResolving(t, false)
  t.equal(selfTest.isOnline(), true)
  state.isDeaf = true
  await fail()
  t.equal(selfTest.isOnline(), false)
  const tests = state.asked.length
  await waitFor(async () => {
    await selfTest.run(true)
    return state.asked.length > tests
  })
  t.equal(selfTest.isOnline(), false, 'it is tested again, also without monitors')
  state.isDeaf = false
  await waitFor(async () => {
    await selfTest.run(true)
    return selfTest.isOnline()
  })
  t.equal(new Set(state.asked).size, state.asked.length, 'no cache can have a name')
})

t.test('A probe in a network that never answers the names of the test is online', async t => {
  const { selfTest, fail } = await startResolving(t, true)
  t.equal(selfTest.isOnline(), true)
  await fail()
  t.equal(selfTest.isOnline(), true)
})
