import { join } from 'node:path'
import type { Welcome } from '../proto/gen/probe/v1/fleet.ts'
import { Screenshot } from '../proto/gen/probe/v1/screenshot.ts'
import type { Log } from '../shared/log.ts'
import type { Result } from '../shared/result.ts'
import { inboxPrefixOf, shotSubject } from '../shared/subjects.ts'
import { machine } from './clock.ts'
import type { ProbeConfig } from './config.ts'
import { createResultStream, type StreamAccess } from './nats.ts'
import { createPublisher } from './publish.ts'
import type { Standing } from './readiness.ts'
import { startReplay } from './replay.ts'
import { openSpool } from './spool.ts'

/** The way of results out of the probe: JetStream, or the spool and later JetStream. */
export type Post = {
  publish: (result: Result) => void
  /** Rejects when JetStream does not take it: screenshots are not spooled. */
  sendScreenshot: (screenshot: Screenshot) => Promise<void>
  /** Uses the address and the credentials of NATS that a welcome brought. */
  use: (welcome: Welcome) => void
  /** Uses other credentials from now on. */
  renew: (natsCredentials: string) => void
  spoolBytes: () => number
  spoolResults: () => number
  droppedResults: () => number
  /** taken by JetStream since the start, in time and late */
  publishedResults: () => number
  lateResults: () => number
  /** for how long JetStream has taken no results, in ms; 0: it takes them */
  natsAwayMs: () => number
  /** what becomes of results now */
  standing: () => Pick<Standing, 'nats' | 'spool'>
  /** Resolves when every result is stored by JetStream or on disk. */
  close: () => Promise<void>
}

/** Throws when the spool's directory cannot be made. Each region has its own: a probe may publish for no other. */
export function openPost(config: ProbeConfig, first: Welcome, onLate: (monitorId: string) => void, log: Log): Post {
  const { probeId, region } = first
  const directory = join(config.dataDir, 'spool', region)
  const spool = openSpool({ directory, maxBytes: config.spoolMaxBytes, machine, log })
  const stream = createResultStream(`picket-probe ${config.name}`, log, {
    onAway: () => publisher.away(),
    onBack: () => publisher.back(),
  })
  const { lateAfterMs } = config
  const publisher = createPublisher({ stream, spool, probeId, region, machine, lateAfterMs, onLate, log })
  const { isAway, taken: onTaken } = publisher
  const replay = startReplay({
    stream,
    spool,
    region,
    perSecond: config.replayPerSecond,
    isAway,
    onTaken,
    machine,
    log,
  })

  let access = accessOf(first)
  const use = (next: StreamAccess) => {
    access = next
    stream.use(next)
  }

  return {
    publish: publisher.publish,
    sendScreenshot: screenshot =>
      stream.publish(shotSubject(region), Screenshot.encode(screenshot).finish(), screenshot.id),
    use: welcome => use(accessOf(welcome)),
    renew: credentials => use({ ...access, credentials }),
    spoolBytes: spool.bytes,
    spoolResults: spool.waiting,
    droppedResults: spool.dropped,
    publishedResults: publisher.published,
    lateResults: replay.sent,
    natsAwayMs: publisher.awayMs,
    standing: () => ({
      nats: stream.isConnected() ? (isAway() ? 'refusing' : 'ok') : 'away',
      spool: spool.isTaking() ? 'ok' : 'refusing',
    }),
    async close() {
      await publisher.close()
      await replay.stop()
      await spool.close()
      await stream.close()
    },
  }
}

const accessOf = ({ probeId, natsUrl, natsCredentials }: Welcome): StreamAccess => ({
  url: natsUrl,
  credentials: natsCredentials,
  inboxPrefix: inboxPrefixOf(probeId),
})
