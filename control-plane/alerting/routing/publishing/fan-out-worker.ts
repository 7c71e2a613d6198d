import { type Db, isDeadlock, isLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { pickNextProject } from './fan-out.ts'
import { runFanOutTurn } from './fan-out-actions.ts'
import { listWaitingProjects } from './fan-out-store.ts'

/** The longest delay after a lost NOTIFY. */
const IDLE_MS = 10_000
/** A round contains turns of many projects. */
const LOOP_LIMITS = { isCritical: true, timeoutMs: 120_000 }
/** The wait before a project that another process held is tried again. */
const RETRY_DELAY_MS = 100

/**
 * Makes the deliveries of events with many recipients. Projects take turns; the one with the fewest turns comes first. Any
 * number of processes may run it, each for another project. Call `wake` on NOTIFY "fan_outs".
 */
export function startFanOutWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const seconds = tools.metrics.histogram(
    'picket_fan_out_seconds',
    'From an event with many recipients until its last delivery is queued',
    [0.05, 0.1, 0.5, 1, 5, 20, 60],
  )
  const turns = tools.metrics.counter('picket_fan_out_turns_total', 'Turns of the fan-out by outcome', ['outcome'])

  const runTurn = async (projectId: string): Promise<'done' | 'busy' | 'failed'> => {
    try {
      const turn = await runFanOutTurn(db, projectId, now())
      for (const one of turn?.seconds ?? []) seconds.observe(one)
      return turn === null ? 'busy' : 'done'
    } catch (error) {
      if (isLockTimeout(error) || isDeadlock(error)) return 'busy'
      // an error in one project must not stop the others
      tools.log.error({ err: error, project_id: projectId }, 'fan-out of a project failed')
      return 'failed'
    }
  }

  return startScheduledLoop(
    'fan-out',
    IDLE_MS,
    tools,
    async signal => {
      const turnCounts = new Map<string, number>()
      const deferred = new Set<string>()
      let isBusy = false
      while (!signal.aborted) {
        const projectId = pickNextProject(await listWaitingProjects(db), turnCounts, deferred)
        if (projectId === null) break
        const outcome = await runTurn(projectId)
        turns.inc({ outcome })
        if (outcome !== 'done') deferred.add(projectId)
        isBusy ||= outcome === 'busy'
        turnCounts.set(projectId, (turnCounts.get(projectId) ?? 0) + 1)
      }
      return isBusy ? new Date(nowMs() + RETRY_DELAY_MS) : null
    },
    LOOP_LIMITS,
  )
}
