import t from 'tap'
import { Outcome } from '../../../shared/checks/result.ts'
import { after, hang, play } from '../../support/chain-scene.ts'

const { UP, DOWN, UNKNOWN } = Outcome

t.test('A request is answered by a later attempt when the first one is cancelled', async t => {
  const scene = play(number => (number === 2 ? hang : after(50)), { timeoutMs: 30_000, intervalS: 20 })
  await scene.time.pass(1_000)
  scene.ask('run')
  await scene.time.pass(60_000)
  t.match(scene.answers, [['run', UP]])
  t.equal(scene.answers.length, 1, 'once')
})

t.test('Requests while a chain runs are answered by its attempts and change nothing', async t => {
  for (const share of [0.01, 0.5, 0.9, 1.5]) {
    for (const retryCount of [0, 1, 2, 5]) {
      for (const outcome of [UP, DOWN]) {
        const timeoutMs = 9_000
        const answer = () => after(share * timeoutMs, outcome)
        const alone = play(answer, { retryCount, timeoutMs })
        await alone.time.pass(300_000)
        const asked = play(answer, { retryCount, timeoutMs })
        const requestsMs: number[] = []
        for (let ms = 1; ms < alone.published.at(-1)!.atMs; ms += 700) {
          await asked.time.pass(ms - asked.time.monotonicMs())
          requestsMs.push(asked.time.monotonicMs())
          asked.ask(`run ${requestsMs.length}`)
        }
        await asked.time.pass(300_000)
        const title = `${share} timeouts, ${retryCount} re-checks, ${outcome === UP ? 'up' : 'down'}`
        t.same(asked.published, alone.published, `${title}: the same attempts at the same times`)
        t.ok(asked.mostOpen() <= retryCount + 1, `${title}: no more connections than attempts that may be needed`)
        t.ok(requestsMs.length > 0 && asked.answers.length === requestsMs.length, `${title}: each is answered once`)
        for (const [runId, seen, atMs] of asked.answers) {
          const waitedMs = atMs - requestsMs[Number(runId.slice(4)) - 1]!
          t.ok(waitedMs > 0 && waitedMs <= timeoutMs + 5_000, `${title}: ${runId} is answered after ${waitedMs} ms`)
          t.equal(seen, share < 1 ? outcome : DOWN)
        }
      }
    }
  }
})

t.test('A request while an attempt is silent is answered by the later one that cancels it', async t => {
  const scene = play(number => (number === 1 ? hang : after(50)))
  await scene.time.pass(3_000)
  scene.ask('run')
  await scene.time.pass(10_000)
  t.match(scene.answers, [['run', UP]])
  t.equal(scene.startsMs.length, 2)
})

t.test(
  'A request between two attempts is refused when the monitor is removed, and one during an attempt is answered',
  async t => {
    const scene = play(number => (number === 1 ? after(50, DOWN) : hang))
    await scene.time.pass(100)
    scene.ask('between')
    scene.remove()
    await scene.time.pass(10_000)
    t.match(scene.answers, [['between', UNKNOWN]])
    const hanging = play(() => hang)
    await hanging.time.pass(100)
    hanging.ask('during')
    hanging.remove()
    await hanging.time.pass(60_000)
    t.match(hanging.answers, [['during', DOWN]])
  },
)
