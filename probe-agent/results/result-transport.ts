import { join } from 'node:path'
import type { Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import { Screenshot } from '../../proto/gen/probe/v1/screenshot.ts'
import type { Result } from '../../shared/checks/result.ts'
import { buildInboxPrefix, screenshotSubject } from '../../shared/nats/subjects.ts'
import type { Log } from '../../shared/process/log.ts'
import { machine } from '../clock.ts'
import type { ProbeConfig } from '../config.ts'
import type { ReadinessConditions } from '../health/readiness.ts'
import { createResultStream, type StreamCredentials } from './nats.ts'
import { createResultPublisher } from './publisher.ts'
import { startSpoolReplay } from './replay.ts'
import { openSpool } from './spool.ts'

/** Delivers results to JetStream, directly or later from the spool. */
export type ResultTransport = {
  publish: (result: Result) => void
  /** Rejects when JetStream does not store it: screenshots are not spooled. */
  sendScreenshot: (screenshot: Screenshot) => Promise<void>
  /** Uses the NATS address and credentials of a welcome message. */
  useWelcome: (welcome: Welcome) => void
  /** Replaces the NATS credentials. */
  renewCredentials: (natsCredentials: string) => void
  spoolBytes: () => number
  spoolResults: () => number
  droppedResults: () => number
  /** stored by JetStream since the start: in time, and late */
  publishedResults: () => number
  lateResults: () => number
  /** for how long JetStream has stored no results, in ms; 0 while it stores them */
  natsAwayMs: () => number
  /** whether results can be published and spooled */
  readinessConditions: () => Pick<ReadinessConditions, 'nats' | 'spool'>
  /** Resolves when every result is stored in JetStream or on disk. */
  close: () => Promise<void>
}

/** Throws when the spool's directory cannot be created. Each region has its own, because a probe may publish only for its region. */
export function openResultTransport(
  config: ProbeConfig,
  first: Welcome,
  onLate: (monitorId: string) => void,
  log: Log,
): ResultTransport {
  const { probeId, region } = first
  const directory = join(config.dataDir, 'spool', region)
  const spool = openSpool({ directory, maxBytes: config.spoolMaxBytes, machine, log })
  const stream = createResultStream(`picket-probe ${config.name}`, log, {
    onAway: () => publisher.markAway(),
    onBack: () => publisher.markBack(),
  })
  const { lateAfterMs } = config
  const publisher = createResultPublisher({ stream, spool, probeId, region, machine, lateAfterMs, onLate, log })
  const { isAway, resetAwayTime: onTaken } = publisher
  const replay = startSpoolReplay({
    stream,
    spool,
    region,
    perSecond: config.replayPerSecond,
    isAway,
    onTaken,
    machine,
    log,
  })

  let access = toStreamCredentials(first)
  const use = (next: StreamCredentials) => {
    access = next
    stream.use(next)
  }

  return {
    publish: publisher.publish,
    sendScreenshot: screenshot =>
      stream.publish(screenshotSubject(region), Screenshot.encode(screenshot).finish(), screenshot.id),
    useWelcome: welcome => use(toStreamCredentials(welcome)),
    renewCredentials: credentials => use({ ...access, credentials }),
    spoolBytes: spool.bytes,
    spoolResults: spool.waiting,
    droppedResults: spool.dropped,
    publishedResults: publisher.published,
    lateResults: replay.sent,
    natsAwayMs: publisher.awayMs,
    readinessConditions: () => ({
      nats: stream.isConnected() ? (isAway() ? 'refusing' : 'ok') : 'away',
      spool: spool.isWritable() ? 'ok' : 'refusing',
    }),
    async close() {
      await publisher.close()
      await replay.stop()
      await spool.close()
      await stream.close()
    },
  }
}

const toStreamCredentials = ({ probeId, natsUrl, natsCredentials }: Welcome): StreamCredentials => ({
  url: natsUrl,
  credentials: natsCredentials,
  inboxPrefix: buildInboxPrefix(probeId),
})
