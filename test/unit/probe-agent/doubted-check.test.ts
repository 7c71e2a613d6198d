import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { createDoubtDetector } from '../../../probe-agent/execution/own-faults/doubt.ts'
import { createSelfTest } from '../../../probe-agent/execution/own-faults/self-test.ts'
import { type CheckExecution, runCheck } from '../../../probe-agent/execution/run-check.ts'
import { Outcome } from '../../../shared/checks/result.ts'
import { createEgress } from '../../../shared/egress/index.ts'
import { nowUs } from '../../../shared/egress/monotonic.ts'
import { createCheckSpec } from '../../support/spec.ts'
import { startTarget, startTcpTarget } from '../../support/target.ts'

const resolver = async (name: string) => {
  if (name.endsWith('unknown.example')) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  return ['127.0.0.1']
}
const egress = createEgress({ allow: ['127.0.0.0/8'], resolver })

const listOutcomes = (ran: readonly CheckExecution[]) => ran.map(({ outcome, isDoubted }) => [outcome, isDoubted])

t.test('Simultaneous failures of many hosts are doubted, even when a self-test address answers', async t => {
  const address = await startTcpTarget(t)
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: address.port }] })
  const doubt = createDoubtDetector()
  const target = await startTarget(t)
  const { port } = new URL(target.url)
  const closed = await startTcpTarget(t)
  await closed.close()
  const check = (url: string) => runCheck(createCheckSpec({ url }), egress, { selfTest, doubt })

  for (const host of [1, 2, 3, 4]) t.equal((await check(`http://127.0.0.1:${port}/?${host}`)).outcome, Outcome.UP)
  const refused: CheckExecution[] = []
  for (const host of [1, 2, 3, 4, 5, 6]) refused.push(await check(`http://127.0.1.${host}:${closed.port}/`))
  t.same(listOutcomes(refused), [
    [Outcome.DOWN, false],
    [Outcome.DOWN, false],
    [Outcome.DOWN, false],
    [Outcome.DOWN, false],
    [Outcome.DOWN, true],
    [Outcome.DOWN, true],
  ])
})

t.test('Failures behind redirects are doubted when those of many hosts fail at the same time', async t => {
  const [target, closed] = [await startTarget(t), await startTcpTarget(t)]
  await closed.close()
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: target.port }] })
  const tools = { selfTest, doubt: createDoubtDetector() }
  const check = (url: string) => runCheck(createCheckSpec({ url }), egress, tools)
  for (const host of [1, 2, 3, 4]) t.equal((await check(`${target.url}?${host}`)).outcome, Outcome.UP)
  const failed: CheckExecution[] = []
  for (const host of [1, 2, 3, 4, 5, 6]) {
    target.behaveAt(`/${host}`, { kind: 'redirect', to: `http://127.0.1.${host}:${closed.port}/` })
    failed.push(await check(`http://h${host}.example:${target.port}/${host}`))
  }
  t.same(
    listOutcomes(failed),
    [false, false, false, false, true, true].map(isDoubted => [Outcome.DOWN, isDoubted]),
  )
})

t.test('Names that do not exist are doubted when many of them fail at the same time', async t => {
  const target = await startTarget(t)
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: Number(new URL(target.url).port) }] })
  const tools = { selfTest, doubt: createDoubtDetector() }
  const check = (url: string) => runCheck(createCheckSpec({ url }), egress, tools)
  for (const host of [1, 2, 3, 4]) t.equal((await check(`${target.url}?${host}`)).outcome, Outcome.UP)
  const failed: CheckExecution[] = []
  for (const host of [1, 2, 3, 4, 5, 6]) failed.push(await check(`http://h${host}.unknown.example/`))
  t.same(
    listOutcomes(failed),
    [false, false, false, false, true, true].map(isDoubted => [Outcome.DOWN, isDoubted]),
  )
})

t.test('Connections that are reset are doubted when those of many hosts are reset at the same time', async t => {
  const target = await startTarget(t)
  const resetting = createServer(socket => socket.once('data', () => socket.resetAndDestroy()))
  await new Promise<void>(resolve => resetting.listen(0, '0.0.0.0', resolve))
  t.teardown(() => new Promise(resolve => resetting.close(resolve)))
  const { port } = resetting.address() as AddressInfo
  const selfTest = createSelfTest({ targets: [{ host: '127.0.0.1', port: Number(new URL(target.url).port) }] })
  const tools = { selfTest, doubt: createDoubtDetector() }
  const check = (url: string) => runCheck(createCheckSpec({ url }), egress, tools)
  for (const host of [1, 2, 3, 4]) t.equal((await check(`${target.url}?${host}`)).outcome, Outcome.UP)
  const reset: CheckExecution[] = []
  for (const host of [1, 2, 3, 4, 5, 6]) reset.push(await check(`http://127.0.1.${host}:${port}/`))
  t.same(
    reset.map(({ observation }) => observation.error?.code),
    Array.from({ length: 6 }, () => 'connection_reset'),
  )
  t.same(
    listOutcomes(reset),
    [false, false, false, false, true, true].map(isDoubted => [Outcome.DOWN, isDoubted]),
  )
})

t.test('Answers of the target and internal failures are never doubted', async t => {
  const doubt = createDoubtDetector()
  const target = await startTarget(t)
  target.behave({ kind: 'answer', status: 500 })
  const { port } = new URL(target.url)
  for (const host of [1, 2, 3, 4, 5, 6, 7]) {
    const answered = await runCheck(createCheckSpec({ url: `http://127.0.0.1:${port}/?${host}` }), egress, { doubt })
    t.match(answered, { outcome: Outcome.DOWN, isDoubted: false })
    const broken = await runCheck(createCheckSpec({ url: `http://127.0.1.${host}/`, type: 'heartbeat' }), egress, {
      doubt,
    })
    t.match(broken, { outcome: Outcome.UNKNOWN, isDoubted: false })
  }
})

t.test(
  'a check that hangs from the middle of a doubt until after its end is doubted, and a later one is not',
  async t => {
    const doubt = createDoubtDetector()
    const target = await startTarget(t)
    target.behave({ kind: 'hang', after: 'connect' })
    const hosts = [1, 2, 3, 4, 5]
    const answered = () => {
      for (const host of hosts) doubt.recordAnswer(`${host}.example`, `${host}`, nowUs())
    }
    answered()
    for (const host of hosts) doubt.recordFailure(`${host}.example`, `${host}`, nowUs())
    t.equal(doubt.isDoubting(nowUs()), true)
    const check = (options: { isOfOthers?: boolean } = {}) =>
      runCheck(createCheckSpec({ url: target.url, timeoutMs: 200 }), egress, { doubt, ...options })
    const during = [check(), check({ isOfOthers: true })]
    answered()
    t.equal(doubt.isDoubting(nowUs()), false)
    const isDoubted = ({ isDoubted }: CheckExecution) => isDoubted
    t.same((await Promise.all(during)).map(isDoubted), [true, true])
    t.same([await check(), await check({ isOfOthers: true })].map(isDoubted), [false, false])
  },
)

t.test('Checks of unassigned monitors do not contribute to a doubt', async t => {
  const noted: string[] = []
  const selfTest = createSelfTest({ targets: [] })
  const observed = { ...selfTest, recordCheck: (target: string) => void noted.push(target) }
  const doubt = createDoubtDetector()
  const target = await startTarget(t)
  const { port } = new URL(target.url)
  const closed = await startTcpTarget(t)
  await closed.close()
  const refused = (host: number, isOfOthers: boolean) =>
    runCheck(createCheckSpec({ url: `http://127.0.1.${host}:${closed.port}/` }), egress, {
      selfTest: observed,
      doubt,
      isOfOthers,
    })

  for (const host of [1, 2, 3, 4])
    await runCheck(createCheckSpec({ url: `http://127.0.0.1:${port}/?${host}` }), egress, { doubt })
  const ofOthers: CheckExecution[] = []
  for (let host = 1; host <= 20; host++) ofOthers.push(await refused(host, true))
  t.equal(ofOthers.filter(({ isDoubted }) => isDoubted).length, 0)
  t.equal(doubt.isDoubting(nowUs()), false, 'hosts of others begin no doubt')
  t.same(noted, [])

  const own: CheckExecution[] = []
  for (const host of [101, 102, 103, 104, 105]) own.push(await refused(host, false))
  t.equal(own.at(-1)?.isDoubted, true)
  t.equal(noted.length, 5)
  t.equal((await refused(1, true)).isDoubted, true, 'the doubt of the probe holds for them as well')
  for (let host = 21; host <= 60; host++) await refused(host, true)
  await runCheck(createCheckSpec({ url: target.url }), egress, { doubt, isOfOthers: true })
  t.equal(doubt.isDoubting(nowUs()), true, 'and they do not end it')
})
