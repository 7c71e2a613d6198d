import { sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import { startLoop } from '../../control-plane/foundation/platform/time/loop.ts'
import { shutDownStuck, startWatchdog } from '../../control-plane/foundation/platform/time/watchdog.ts'
import { exitAfterOutput } from '../../shared/process/exit.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'

/**
 * A process with one critical loop and the watchdog, as in a control plane. Its argument is the duration of a round in ms; the
 * limit is 3 s. `SIGUSR2`: the current round never ends.
 */
const roundMs = Number(process.argv[2])
const log = createLog('watched', 'info')
const metrics = createMetrics()
const forever = new AbortController()
process.on('SIGUSR2', () => forever.abort())

const limits = { isCritical: true, timeoutMs: 3_000 }
const work = async () => {
  await sleep(roundMs)
  while (forever.signal.aborted) await sleep(1_000)
  log.info({ event: 'round' }, 'a round has ended')
}
const loop = startLoop('work', 0, { log, metrics }, work, limits)
startWatchdog(metrics, loops => void shutDownStuck(loops, loop.stop, log).then(() => exitAfterOutput(1)))
