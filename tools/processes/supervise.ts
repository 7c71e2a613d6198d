import { isAlive } from '../engines/process.ts'

/** Something that runs: an engine or one of our programs. */
export type RunningProcess = { pid: number; exited: Promise<void>; stop(): Promise<void> }
export type SupervisedProcess<T extends RunningProcess> = { current(): T; stop(): Promise<void>; kill(): void }

const MAX_RESTART_DELAY_MS = 30_000
const STEADY_MS = 60_000

/**
 * Starts something and starts it again, after a pause that grows from 1 to 30 s, when it ends without being asked to.
 * Rejects when the first start fails. `again` may differ from `start`, to keep what was found out (a port).
 */
export async function supervise<T extends RunningProcess>(
  name: string,
  start: () => Promise<T>,
  say: (text: string) => void,
  again: (first: T) => Promise<T> = start,
): Promise<SupervisedProcess<T>> {
  const first = await start()
  let current = first
  let stopping = false
  let wake = () => {}

  const watch = async () => {
    let pauseMs = 1_000
    let startedAt = Date.now()
    for (;;) {
      await current.exited
      if (stopping) return
      if (Date.now() - startedAt > STEADY_MS) pauseMs = 1_000
      say(`${name} ended unexpectedly; starting it again in ${pauseMs / 1000} s (see its log)`)
      await new Promise<void>(resolve => {
        wake = resolve
        setTimeout(resolve, pauseMs)
      })
      if (stopping) return
      pauseMs = Math.min(pauseMs * 2, MAX_RESTART_DELAY_MS)
      startedAt = Date.now()
      const restarted = await again(first).catch((error: Error) => say(`${name} does not start: ${error.message}`))
      if (restarted) {
        current = restarted
        say(`${name} runs again`)
      }
    }
  }
  const watching = watch()
  return {
    current: () => current,
    async stop() {
      stopping = true
      wake()
      if (isAlive(current.pid)) await current.stop()
      await watching
      // one that came up in the very moment
      if (isAlive(current.pid)) await current.stop()
    },
    kill() {
      stopping = true
      if (isAlive(current.pid)) process.kill(current.pid, 'SIGKILL')
    },
  }
}
