import { type Db, isDeadlock, isLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { pickNextProject } from './fan-out.ts'
import { runFanOutTurn } from './fan-out-actions.ts'
import { listWaitingProjects } from './fan-out-store.ts'

/** How long the loop sleeps when a notification was lost. */
const IDLE_MS = 10_000
/** Each turn of a project that is under way may end. */
const LOOP_LIMITS = { isCritical: true, limitMs: 120_000 }
/** A project that another process held is tried again after this. */
const RETRY_DELAY_MS = 100

/**
 * Makes the deliveries of events that many channels hear of. Projects take turns, one that has just come first; any
 * number of processes may do it, each on another project. `wake` it on NOTIFY "fan_outs".
 */
export function startFanOutWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const seconds = tools.metrics.histogram(
    'picket_fan_out_seconds',
    'From an event that many channels hear of to its last delivery in the queue',
    [0.05, 0.1, 0.5, 1, 5, 20, 60],
  )
  const turns = tools.metrics.counter('picket_fan_out_turns_total', 'Turns of the fan-out by what came of them', [
    'outcome',
  ])

  const turnOf = async (projectId: string): Promise<'done' | 'busy' | 'failed'> => {
    try {
      const turn = await runFanOutTurn(db, projectId, now())
      for (const one of turn?.seconds ?? []) seconds.observe(one)
      return turn === null ? 'busy' : 'done'
    } catch (error) {
      if (isLockTimeout(error) || isDeadlock(error)) return 'busy'
      // a fault with one project is none of the others
      tools.log.error({ err: error, project_id: projectId }, 'the events of a project could not be fanned out')
      return 'failed'
    }
  }

  return startScheduledLoop(
    'fan-out',
    IDLE_MS,
    tools,
    async signal => {
      const taken = new Map<string, number>()
      const putOff = new Set<string>()
      let isBusy = false
      while (!signal.aborted) {
        const projectId = pickNextProject(await listWaitingProjects(db), taken, putOff)
        if (projectId === null) break
        const outcome = await turnOf(projectId)
        turns.inc({ outcome })
        if (outcome !== 'done') putOff.add(projectId)
        isBusy ||= outcome === 'busy'
        taken.set(projectId, (taken.get(projectId) ?? 0) + 1)
      }
      return isBusy ? new Date(nowMs() + RETRY_DELAY_MS) : null
    },
    LOOP_LIMITS,
  )
}
