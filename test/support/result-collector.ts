import { jetstreamManager } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import type { NatsOperator } from '../../control-plane/foundation/platform/nats/operator.ts'
import { type Result, ResultBatch } from '../../proto/gen/probe/v1/result.ts'
import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

type Collected = { subject: string; batch: ResultBatch }

type ResultCollector = {
  /** reads every stored message from the server, oldest first */
  messages: (stream?: string) => Promise<Collected[]>
  results: (stream?: string) => Promise<Result[]>
  /** waits for this number of results of a monitor in the stream RESULTS and returns them in order */
  atLeast: (count: number, monitorId: string) => Promise<Result[]>
}

/** Creates the two streams of results on a NATS server and reads them. */
export async function collectResults(
  t: Teardown,
  natsUrl: string,
  operator: NatsOperator | null = null,
): Promise<ResultCollector> {
  const { connection } = await connectNats(natsUrl, 'collector', operator)
  t.teardown(() => connection.close())
  const manager = await jetstreamManager(connection)
  for (const name of [RESULTS_STREAM, LATE_STREAM]) {
    await manager.streams.add({ name, subjects: [`${name}.*.*`], duplicate_window: nanos(120_000) })
  }

  async function messages(stream = RESULTS_STREAM): Promise<Collected[]> {
    const { state } = await manager.streams.info(stream)
    const found: Collected[] = []
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await manager.streams.getMessage(stream, { seq })
      if (message) found.push({ subject: message.subject, batch: ResultBatch.decode(message.data) })
    }
    return found
  }

  const results = async (stream?: string) => (await messages(stream)).flatMap(({ batch }) => batch.results)

  async function atLeast(count: number, monitorId: string): Promise<Result[]> {
    let found: Result[] = []
    const hasEnough = async () => {
      found = (await results()).filter(result => result.monitorId === monitorId)
      return found.length >= count
    }
    await waitFor(hasEnough, { label: `${count} results of ${monitorId}` })
    return found
  }

  return { messages, results, atLeast }
}
