import { setFlagsFromString } from 'node:v8'
import { ConfigError } from '../shared/env.ts'
import { createLog } from '../shared/log.ts'
import { readConfig } from './config.ts'
import { endStuck, start } from './start.ts'

// V8 would collect all garbage three times over whenever little happens: a third of what an idle process takes
setFlagsFromString('--no-memory-reducer')

try {
  const config = readConfig(process.env)
  const log = createLog('control-plane', config.logLevel)
  const { stop, stuck } = await start(config, log)
  let isStopping = false
  stuck.then(loops => {
    if (isStopping) return
    isStopping = true
    return endStuck(loops, stop, log).then(() => process.exit(1))
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
