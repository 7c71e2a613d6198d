import t from 'tap'
import { startSlowRelay } from '../support/slow-relay.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { startVerdictEngines, startVerdictProcess } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 15 s

/** With it, the first heartbeat of a consumer comes later than the next look at the stream, two seconds after it was opened. */
const DELAY_MS = 300

t.test('Partitions without messages are read again after a gap, also when NATS answers slowly', async t => {
  const { url, server } = await startVerdictEngines(t)
  const relay = await startTcpRelay(t, server.url)
  const process = await startVerdictProcess(t, url, await startSlowRelay(t, relay.url, DELAY_MS))
  const isReading = (count: number) =>
    waitFor(async () => (await process.metric('picket_verdict_partitions_owned')) === count, {
      label: `${count} partitions are read`,
    })
  await isReading(16)
  relay.hold()
  await isReading(0)
  await relay.restore()
  await isReading(16)
})
