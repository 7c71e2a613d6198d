import { isAlive } from '../engines/process.ts'

/** A running data store or program. */
export type RunningProcess = { pid: number; exited: Promise<void>; stop(): Promise<void> }
export type SupervisedProcess<T extends RunningProcess> = { current(): T; stop(): Promise<void>; kill(): void }

const MAX_RESTART_DELAY_MS = 30_000
const STEADY_MS = 60_000

/**
 * Starts a process and restarts it when it exits unexpectedly, after a delay that grows from 1 to 30 s. Rejects when the
 * first start fails. `restart` may differ from `start`, for example to keep the port.
 */
export async function supervise<T extends RunningProcess>(
  name: string,
  start: () => Promise<T>,
  print: (text: string) => void,
  restart: (first: T) => Promise<T> = start,
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
      print(`${name} exited unexpectedly; restarting in ${pauseMs / 1000} s (see its log)`)
      await new Promise<void>(resolve => {
        wake = resolve
        setTimeout(resolve, pauseMs)
      })
      if (stopping) return
      pauseMs = Math.min(pauseMs * 2, MAX_RESTART_DELAY_MS)
      startedAt = Date.now()
      const restarted = await restart(first).catch((error: Error) => print(`${name} did not start: ${error.message}`))
      if (restarted) {
        current = restarted
        print(`${name} was restarted`)
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
      // a restart may have finished in the meantime
      if (isAlive(current.pid)) await current.stop()
    },
    kill() {
      stopping = true
      if (isAlive(current.pid)) process.kill(current.pid, 'SIGKILL')
    },
  }
}
