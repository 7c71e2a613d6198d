import { ConfigError } from '../shared/env.ts'
import { createLog } from '../shared/log.ts'
import { readConfig } from './config.ts'
import { start } from './start.ts'

try {
  const config = readConfig(process.env)
  const log = createLog('control-plane', config.logLevel)
  const { stop } = await start(config, log)
  let isStopping = false
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
