import { type Loop, type LoopTools, startLoop } from '../time/loop.ts'
import { ensureStreams, listMissingStreams, type Nats, type StreamSettings } from './client.ts'

/** How often it is checked that the streams exist. */
const INTERVAL_MS = 10_000

/**
 * Creates streams that NATS has lost, for example with its disk, while this process runs: without them, probes keep their
 * results and nothing is decided. Every process does this; a reconnect starts a check at once.
 */
export function startStreamsWorker({ nats, ...tools }: LoopTools & { nats: Nats }, settings: StreamSettings): Loop {
  const loop = startLoop('nats-streams', INTERVAL_MS, tools, async () => {
    const missing = await listMissingStreams(nats.manager)
    if (missing.length === 0) return
    await ensureStreams(nats.manager, settings)
    tools.log.warn({ event: 'streams_created', streams: missing }, 'NATS had lost streams; they were created again')
  })
  const removeListener = nats.onReconnect(() => loop.wake())
  return {
    wake: loop.wake,
    async stop() {
      removeListener()
      await loop.stop()
    },
  }
}
