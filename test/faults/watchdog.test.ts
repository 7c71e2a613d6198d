import t from 'tap'
import { startLoop } from '../../control-plane/foundation/platform/time/loop.ts'
import { startWatchdog } from '../../control-plane/foundation/platform/time/watchdog.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startProgram } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

function startWatched(t: Teardown, roundMs: number) {
  const args = ['--import=tsx', 'test/support/watched-process.ts', String(roundMs)]
  const program = startProgram(t, { program: process.execPath, args })
  const rounds = () => program.lines.filter(({ event }) => event === 'round').length
  const reach = (count: number) => waitFor(() => rounds() >= count, { label: `${count} rounds` })
  return { program, rounds, reach }
}

t.test('A process with a stuck critical loop logs it once and exits with an error', async t => {
  const { program, reach } = startWatched(t, 100)
  await reach(3)
  program.signal('SIGUSR2')
  t.equal(await program.exited, 1)
  const logged = program.lines.filter(({ event }) => event === 'stuck')
  t.match(logged, [{ loops: ['work'], level: 60 }])
  t.equal(logged.length, 1)
})

t.test('A process that was suspended for longer than the limit continues', async t => {
  const { program, rounds, reach } = startWatched(t, 1_000)
  await reach(2)
  program.freeze()
  // twice as long as the limit, after which a stuck process exits
  for (let times = 0; times < 2; times++) {
    const stuck = startWatched(t, 100)
    await stuck.reach(1)
    stuck.program.signal('SIGUSR2')
    t.equal(await stuck.program.exited, 1)
  }
  program.thaw()
  await reach(rounds() + 4)
  t.notOk(program.lines.some(({ event }) => event === 'stuck'))
  program.signal('SIGTERM')
  await program.exited
})

t.test('Rounds that fail within their limit do not make a process stuck', async t => {
  const metrics = createMetrics()
  const tools = { log: createLog('test', 'silent'), metrics }
  const stuck: string[][] = []
  let failed = 0
  const fail = async () => {
    failed++
    throw new Error('PostgreSQL is away')
  }
  const loop = startLoop('fails', 100, tools, fail, { isCritical: true, timeoutMs: 2_500 })
  const watchdog = startWatchdog(metrics, loops => stuck.push(loops))
  await waitFor(() => failed >= 6, { label: 'six rounds' })
  t.same(stuck, [])
  t.same(watchdog.stuck(), [])
  watchdog.stop()
  await loop.stop()
})

t.test('A round beyond its limit is counted, and its signal is aborted before', async t => {
  const metrics = createMetrics()
  const tools = { log: createLog('test', 'silent'), metrics }
  const aborted: string[] = []
  let release: () => void = () => {}
  const round = (signal: AbortSignal) =>
    new Promise<void>(resolve => {
      release = resolve
      signal.addEventListener('abort', () => aborted.push('abort'), { once: true })
    })
  const loop = startLoop('slow', 60_000, tools, round, { timeoutMs: 300 })
  const watchdog = startWatchdog(metrics, () => t.fail('only critical loops are reported'))
  const text = async () => (await metrics.render()).text
  await waitFor(async () => (await text()).includes('picket_loop_rounds_total{loop="slow",outcome="late"} 1'), {
    label: 'a late round',
  })
  t.same(aborted, ['abort'])
  await waitFor(async () => /picket_loop_round_age_seconds\{loop="slow"\} [1-9]/.test(await text()), {
    label: 'its age',
  })
  watchdog.stop()
  release()
  const stopped = loop.stop()
  release()
  await stopped
})
