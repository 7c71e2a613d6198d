import type { CheckExecution, CheckRunOptions } from '../../probe-agent/execution/run-check.ts'
import { createAssignedMonitors } from '../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../probe-agent/schedule/loop.ts'
import { resolveStartState } from '../../probe-agent/schedule/rechecks/region-state.ts'
import { createRunNowHandler } from '../../probe-agent/schedule/run-now.ts'
import { RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { Outcome, type Result, Trigger } from '../../shared/checks/result.ts'
import { createLog } from '../../shared/process/log.ts'
import { assignment, checkSpec } from './fleet-server.ts'
import { createVirtualTime } from './virtual-time.ts'

const START_MS = Date.UTC(2026, 7, 1)
const { UP, DOWN, UNKNOWN } = Outcome

/** The target's reaction to an attempt: the outcome, and after how many ms; `hang` for no answer. */
type Answer = { outcome: Outcome; afterMs: number }
export const hang: Answer = { outcome: UP, afterMs: Number.POSITIVE_INFINITY }
export const after = (afterMs: number, outcome: Outcome = UP): Answer => ({ outcome, afterMs })

type Scene = { timeoutMs?: number; intervalS?: number; retryCount?: number; state?: RegionState; isDoubted?: boolean }

/** One monitor and a target in virtual time. `answer` is called at the start of each attempt with its number, from 1. */
export function play(answer: (number: number) => Answer, scene: Scene = {}) {
  const { timeoutMs = 10_000, intervalS = 3600, retryCount = 2, state: regionState = RegionState.OK } = scene
  const time = createVirtualTime()
  const startsMs: number[] = []
  const published: (Result & { atMs: number })[] = []
  const silentMs: number[] = []
  const answers: { runId: string; result: Result; atMs: number }[] = []
  let open = 0
  let maxOpen = 0

  function run(_: unknown, { cancellation }: CheckRunOptions): Promise<CheckExecution> {
    startsMs.push(time.monotonicMs())
    maxOpen = Math.max(maxOpen, ++open)
    const { outcome, afterMs } = answer(startsMs.length)
    return new Promise(resolve => {
      const end = (outcome: Outcome, totalMs: number) => {
        open--
        const statusCode = totalMs < timeoutMs ? 200 : null
        const observation = { error: null, timings: undefined, totalUs: totalMs * 1000, statusCode }
        resolve({ observation, outcome, failedAssertions: [], isDoubted: scene.isDoubted } as unknown as CheckExecution)
      }
      const isAnswered = afterMs < timeoutMs
      const stop = time.after(Math.min(afterMs, timeoutMs), () =>
        end(isAnswered ? outcome : DOWN, isAnswered ? afterMs : timeoutMs),
      )
      cancellation!.onCancel = () => {
        stop()
        end(UNKNOWN, 0)
      }
    })
  }

  const monitors = createAssignedMonitors('eu-west')
  const clock = { learn: () => 0, nowMs: () => START_MS + time.monotonicMs() }
  const publish = (result: Result) => void published.push({ ...result, atMs: time.monotonicMs() })
  const answerTo = (runId: string, result: Result) => void answers.push({ runId, result, atMs: time.monotonicMs() })
  const loop = createCheckLoop({
    monitors,
    clock,
    run,
    publish,
    answer: answerTo,
    onSilent: () => silentMs.push(time.monotonicMs()),
    maxConcurrentChecks: 100,
    log: createLog('test', 'silent'),
    timers: time,
  })
  const spec = { ...checkSpec('http://127.0.0.1'), timeoutMs }
  const one = assignment('m1', spec, { intervalS, retryCount, regionState, checkAtOnce: true })
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts: [one], removals: [] })
  const runNow = createRunNowHandler({ loop, monitors, clock, answer: answerTo })
  const request = { runId: '', monitorId: 'm1', scheduledAtMs: 0, spec: undefined }
  return {
    askForOpinion: () => runNow({ ...request, trigger: Trigger.SECOND_OPINION }),
    time,
    /** the time of results for a monotonic one */
    toTimeMs: (ms: number) => START_MS + ms,
    startsMs,
    published,
    silentMs,
    answers,
    ask: (runId: string) => runNow({ ...request, runId, trigger: Trigger.RUN_NOW }),
    state: () => resolveStartState(monitors.get('m1')!, time.monotonicMs()),
    maxOpen: () => maxOpen,
    open: () => open,
    /** refuses checks on demand from now on */
    leave: () => loop.stopOnDemandChecks(),
    /** assigns another version of the monitor, which is checked at once */
    change(configVersion: number) {
      const upserts = [{ ...one, configVersion }]
      loop.apply({ isSnapshot: false, isLast: true, revision: configVersion, epoch: 1, upserts, removals: [] })
    },
    remove: () => loop.apply({ isSnapshot: false, isLast: true, revision: 2, epoch: 1, upserts: [], removals: ['m1'] }),
  }
}
