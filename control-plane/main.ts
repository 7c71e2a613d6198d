import { setFlagsFromString } from 'node:v8'
import { ConfigError } from '../shared/process/env.ts'
import { createLog } from '../shared/process/log.ts'
import { readConfig } from './config.ts'
import { sleep } from './foundation/platform/time/clock.ts'
import { shutDownStuck } from './foundation/platform/time/watchdog.ts'
import { start } from './start.ts'

/** In this time V8 collects the garbage of the start and shrinks the heap. */
const START_DURATION_MS = 60_000

try {
  const config = readConfig(process.env)
  const log = createLog('control-plane', config.logLevel)
  const { stop, stuck } = await start(config, log)
  // without this flag V8 collects all garbage three times in each idle phase, a third of an idle process's CPU time
  void sleep(START_DURATION_MS).then(() => setFlagsFromString('--no-memory-reducer'))
  let isStopping = false
  stuck.then(loops => {
    if (isStopping) return
    isStopping = true
    return shutDownStuck(loops, stop, log).then(() => process.exit(1))
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, async () => {
      if (isStopping) process.exit(1)
      isStopping = true
      await stop()
      process.exit(0)
    })
  }
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(1)
}
