import { setFlagsFromString } from 'node:v8'
import { ConfigError } from '../shared/process/env.ts'
import { exitAfterOutput } from '../shared/process/exit.ts'
import { createLog, type Log } from '../shared/process/log.ts'
import { readConfig } from './config.ts'
import { sleep } from './foundation/platform/time/clock.ts'
import { shutDownStuck } from './foundation/platform/time/watchdog.ts'
import { start } from './start.ts'

/** In this time V8 collects the garbage of the start and shrinks the heap. */
const START_DURATION_MS = 60_000

try {
  const config = readConfig(process.env)
  const log = createLog('control-plane', config.logLevel)
  const stopping = new AbortController()
  const starting = start(config, log, { stopping: stopping.signal })
  // before the start has ended, so that a signal in this time does not end the process with leases and ports open
  stopAtEnd(starting, stopping, log)
  await starting
  // without this flag V8 collects all garbage three times in each idle phase, a third of an idle process's CPU time
  void sleep(START_DURATION_MS).then(() => setFlagsFromString('--no-memory-reducer'))
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  await exitAfterOutput(1)
}

/** Ends the process on a signal or when a critical loop is stuck. A start that fails ends it elsewhere. */
function stopAtEnd(starting: ReturnType<typeof start>, stopping: AbortController, log: Log): void {
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, async () => {
      if (isStopping) process.exit(1)
      isStopping = true
      stopping.abort()
      const { stop } = await starting
      await stop()
      await exitAfterOutput(0)
    })
  }
  starting.then(
    ({ stop, stuck }) =>
      stuck.then(loops => {
        if (isStopping) return
        isStopping = true
        return shutDownStuck(loops, stop, log).then(() => exitAfterOutput(1))
      }),
    () => {},
  )
}
