import { ConfigError } from '../shared/process/env.ts'
import { exitAfterOutput } from '../shared/process/exit.ts'
import { createLog } from '../shared/process/log.ts'
import { readConfig, readVersion } from './config.ts'
import { startProbe } from './start.ts'

function main(): void {
  const config = readConfig(process.env)
  let isStopping = false
  const end = () => {
    if (isStopping) process.exit(1)
    isStopping = true
    void probe.stop().then(() => exitAfterOutput(0))
  }
  const probe = startProbe(config, createLog('probe', config.logLevel), end)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end)
}

try {
  if (process.argv.includes('--version')) console.info(readVersion())
  else main()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(`picket-probe: ${error.message}`)
  void exitAfterOutput(1)
}
