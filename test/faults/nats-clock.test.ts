import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createResultStream } from '../../probe-agent/results/nats.ts'
import { createLog } from '../../shared/process/log.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000
const { now } = Date

/** During `work` the wall clock is an hour ahead, and is set right after it. */
async function anHourAhead<T>(work: () => Promise<T>): Promise<T> {
  Date.now = () => now() + HOUR_MS
  try {
    return await work()
  } finally {
    Date.now = now
  }
}

t.test('a clock that is set back by an hour prevents neither a probe nor a control plane from using NATS', async t => {
  const server = await startNats(t)
  const stream = createResultStream('probe', createLog('test', 'silent'), { onAway() {}, onBack() {} })
  t.teardown(() => stream.close())
  const fleet = await anHourAhead(async () => {
    stream.use({ url: server.url, credentials: '', inboxPrefix: '_INBOX.probe' })
    const connected = await connectNats(server.url, 'control plane')
    await waitFor(() => stream.isConnected(), { label: 'the probe' })
    return connected
  })
  t.teardown(() => fleet.close())
  await server.kill9()
  await waitFor(() => !stream.isConnected(), { label: 'the probe that notices' })
  await server.restart()
  await waitFor(() => stream.isConnected(), { label: 'the probe again' })
  await waitFor(() => fleet.connection.rtt(), { label: 'the control plane again' })
})
