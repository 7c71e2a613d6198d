import t from 'tap'
import { createDoubtDetector } from '../../../probe-agent/execution/own-faults/doubt.ts'

const SECOND_US = 1_000_000
const MINUTE_US = 60 * SECOND_US

/** Hosts that a probe checks every 30 s. `fails`: which of them fail, by number and time. */
function watch(hosts: number, minutes: number, fails: (host: number, atS: number) => boolean) {
  const doubt = createDoubtDetector()
  const doubtedAtS: number[] = []
  let failedBefore = 0
  for (let step = 0; step < minutes * 2 * hosts; step++) {
    const host = step % hosts
    const atUs = Math.round((step * 30 * SECOND_US) / hosts)
    const isFailing = fails(host, atUs / SECOND_US)
    if (isFailing) doubt.recordFailure(`${host}.example`, `${host}`, atUs)
    else doubt.recordAnswer(`${host}.example`, `${host}`, atUs)
    if (doubt.isDoubting(atUs)) doubtedAtS.push(atUs / SECOND_US)
    else if (isFailing) failedBefore++
  }
  return { firstS: doubtedAtS[0] ?? null, lastS: doubtedAtS.at(-1) ?? null, failedBefore }
}

const FAULT_S = 660
const isDuring = (seconds: number, atS: number) => atS >= FAULT_S && atS < FAULT_S + seconds

type Row = [title: string, hosts: number, fails: (host: number, atS: number) => boolean, failuresBefore: number | null]
const rows: Row[] = [
  ['all of 40 hosts fail for 20 s', 40, (_, at) => isDuring(20, at), 2],
  ['60 % of 40 hosts fail for 5 minutes', 40, (host, at) => host % 5 < 3 && isDuring(300, at), 2],
  ['10 % of 1,000 hosts fail for 5 minutes', 1_000, (host, at) => host % 10 === 0 && isDuring(300, at), 60],
  ['4 % of 2,000 hosts fail for 5 minutes', 2_000, (host, at) => host % 25 === 0 && isDuring(300, at), 80],
  ['all of 4 hosts fail', 4, (_, at) => isDuring(120, at), 2],
  ['one host fails', 40, (host, at) => host === 7 && isDuring(300, at), null],
  ['two of three hosts fail', 3, (host, at) => host < 2 && isDuring(300, at), null],
  ['each minute another host fails for a minute', 40, (host, at) => host === Math.floor(at / 60) % 40, null],
  ['1 % of 1,000 hosts fail', 1_000, (host, at) => host % 100 === 0 && isDuring(300, at), null],
  ['a tenth of the hosts was down before the probe began', 200, host => host % 10 === 0, null],
]

for (const [title, hosts, fails, failuresBefore] of rows) {
  t.test(`${failuresBefore === null ? 'no doubt' : 'a doubt'} when ${title}`, async t => {
    const { firstS, lastS, failedBefore } = watch(hosts, 25, fails)
    if (failuresBefore === null) return t.equal(firstS, null)
    t.ok(firstS !== null && firstS >= FAULT_S, `began after ${firstS! - FAULT_S} s`)
    t.ok(failedBefore <= failuresBefore, `${failedBefore} failures before it began`)
    t.ok(lastS! < FAULT_S + 300 + 60, `ended after ${lastS! - FAULT_S} s`)
  })
}

t.test('Many hosts with one address count once', async t => {
  const doubt = createDoubtDetector()
  for (let i = 0; i < 20; i++) doubt.recordAnswer(`${i}.example`, `${i}`, i * SECOND_US)
  for (let i = 0; i < 20; i++) doubt.recordFailure(`${i}.example`, '192.0.2.1', (60 + i) * SECOND_US)
  t.equal(doubt.isDoubting(80 * SECOND_US), false)
})

t.test('One answering host with many monitors does not hide failures of the others', async t => {
  const doubt = createDoubtDetector()
  for (let i = 0; i < 5; i++) doubt.recordAnswer(`${i}.example`, `${i}`, i)
  for (let i = 0; i < 5; i++) {
    for (let j = 0; j < 100; j++) doubt.recordAnswer(`large.example/${j}`, 'large', MINUTE_US + i * SECOND_US)
    doubt.recordFailure(`${i}.example`, `${i}`, MINUTE_US + i * SECOND_US)
  }
  t.equal(doubt.isDoubting(MINUTE_US + 5 * SECOND_US), true)
})

t.test('A doubt lasts while three of its hosts and 3 % of all fail, at most an hour', async t => {
  const changes: string[] = []
  const doubt = createDoubtDetector((isDoubting, hosts) => changes.push(`${isDoubting} ${hosts}`))
  for (let i = 0; i < 10; i++) doubt.recordAnswer(`${i}.example`, `${i}`, i)
  for (let i = 0; i < 10; i++) doubt.recordFailure(`${i}.example`, `${i}`, MINUTE_US + i)
  for (let i = 0; i < 7; i++) doubt.recordAnswer(`${i}.example`, `${i}`, 2 * MINUTE_US)
  t.equal(doubt.isDoubting(2 * MINUTE_US), true)
  doubt.recordAnswer('7.example', '7', 2 * MINUTE_US)
  t.equal(doubt.isDoubting(2 * MINUTE_US), false)
  t.same(changes, ['true 3', 'false 2'])

  for (let i = 0; i < 6; i++) doubt.recordFailure(`${i}.example`, `${i}`, 3 * MINUTE_US + i)
  t.equal(doubt.isDoubting(62 * MINUTE_US), true)
  t.equal(doubt.isDoubting(64 * MINUTE_US), false, 'what lasts for an hour is not a jump')
})

t.test('An attempt that began during a doubt is doubted after it, and a later one is not', async t => {
  const doubt = createDoubtDetector()
  const answer = (atUs: number, hosts = 10) => {
    for (let i = 0; i < hosts; i++) doubt.recordAnswer(`${i}.example`, `${i}`, atUs + i)
  }
  answer(0)
  for (let i = 0; i < 10; i++) doubt.recordFailure(`${i}.example`, `${i}`, MINUTE_US + i)
  answer(2 * MINUTE_US, 9)
  const endsUs = 2 * MINUTE_US + 7
  // first detected long after its end
  const failsUs = 3 * MINUTE_US
  doubt.recordFailure('9.example', '9', failsUs)
  t.equal(doubt.isDoubting(failsUs), false)
  t.equal(doubt.isDoubting(failsUs, endsUs - SECOND_US), true)
  t.equal(doubt.isDoubting(failsUs, endsUs + SECOND_US), false)
})

t.test(
  'A target that fails for long does not begin to fail again after answers of another target of its host',
  async t => {
    const doubt = createDoubtDetector()
    for (let i = 0; i < 200; i++) {
      const host = `${i % 4}`
      doubt.recordAnswer(`${host}.example/well`, host, i * SECOND_US)
      doubt.recordFailure(`${host}.example/ill`, host, (i + 0.5) * SECOND_US)
      t.equal(doubt.isDoubting(i * SECOND_US), false)
    }
  },
)

t.test('A probe that starts while almost all hosts fail has a doubt', async t => {
  const doubt = createDoubtDetector()
  for (let i = 0; i < 5; i++) doubt.recordFailure(`${i}.example`, `${i}`, i)
  t.equal(doubt.isDoubting(5), true)
})

t.test('A high rate of failures raises the threshold of a doubt', async t => {
  const usually = (host: number, at: number) => (host * 7 + Math.floor(at / 30)) % 20 === 0
  t.equal(watch(400, 25, usually).firstS, null)
})
