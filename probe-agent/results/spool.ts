import type { Log } from '../../shared/process/log.ts'
import type { CancelTimer, Machine } from '../clock.ts'
import { decodeRecord, encodeFrame, encodeRecord, type SpoolRecord } from './frames.ts'
import { openSegments } from './segments.ts'
import {
  countWaiting,
  createSpoolState,
  getState,
  type SpoolState,
  serialize,
  settle,
  settleAt,
} from './spool-state.ts'

type SpoolOptions = { directory: string; maxBytes: number; machine: Machine; log: Log }

/**
 * Results that JetStream did not store, on disk until they are published as late results (docs/design/probes.md#spool).
 *
 * Every record is written immediately, so it survives a kill -9 of the probe. The file is synced one second after a write, so
 * a power failure loses at most one second. A file that was not replayed completely is replayed again after a restart, which
 * is safe because the history is idempotent. When the spool is full, its oldest file is deleted.
 */
export type Spool = {
  /** Writes a record that is also in memory and may still be published in time. Returns its number. */
  append: (record: SpoolRecord) => number
  /** The record was published from memory and is not replayed. */
  delivered: (seq: number) => void
  /** The record is late and no longer in memory: it will be replayed. */
  release: (seq: number) => void
  /** The oldest late records, at most `atMost`. Returns the same records until `consume`. */
  peek: (atMost: number) => Promise<SpoolRecord[]>
  /** Removes the records that the last `peek` returned. */
  consume: () => Promise<void>
  bytes: () => number
  /** records not yet delivered; those of an earlier run count once they have been read */
  waiting: () => number
  /** records lost because the spool was full or the disk rejected them */
  dropped: () => number
  /** false after a failed write until the next successful one */
  isWritable: () => boolean
  /** Resolves when everything appended is on disk. */
  close: () => Promise<void>
}

const SEGMENT_BYTES = 1024 * 1024
const SYNC_INTERVAL_MS = 1000

/** Throws when the directory cannot be created or read. */
export function openSpool({ directory, maxBytes, machine, log }: SpoolOptions): Spool {
  const spool = createSpoolState(openSegments(directory, SEGMENT_BYTES), maxBytes, log)
  let stopSyncing: CancelTimer | null = null
  spool.onDirty = () => {
    stopSyncing = machine.after(SYNC_INTERVAL_MS, () => void serialize(spool, () => sync(spool)))
  }
  for (const segment of spool.uncounted) void serialize(spool, () => countWaiting(spool, segment))
  return {
    append: record => append(spool, record),
    delivered(seq) {
      if (spool.states.get(seq) !== 'held') return
      spool.states.set(seq, 'delivered')
      spool.waiting--
    },
    release(seq) {
      // An unknown record was rejected by the disk or deleted with a full spool.
      if (!spool.states.delete(seq)) spool.dropped++
    },
    peek: atMost => serialize(spool, () => peek(spool, atMost)),
    consume: () => serialize(spool, () => advance(spool)),
    bytes: () => spool.segments.bytes(),
    waiting: () => spool.waiting,
    dropped: () => spool.dropped,
    isWritable: () => !spool.isRefused,
    close() {
      spool.onDirty = () => {}
      stopSyncing?.()
      return serialize(spool, async () => {
        await write(spool)
        await spool.segments.rotate()
      })
    },
  }
}

function append(spool: SpoolState, record: SpoolRecord): number {
  const seq = spool.nextSeq++
  spool.states.set(seq, 'held')
  spool.waiting++
  spool.unwritten.push(encodeFrame(encodeRecord(record)))
  if (spool.unwritten.length === 1) void serialize(spool, () => write(spool))
  return seq
}

/** Writes the appended records, then deletes the oldest files while the spool is too large. */
async function write(spool: SpoolState): Promise<void> {
  if (spool.unwritten.length === 0) return
  const frames = spool.unwritten
  spool.unwritten = []
  const firstSeq = spool.nextSeq - frames.length
  try {
    await spool.segments.write(Buffer.concat(frames), firstSeq)
    if (!spool.isDirty) spool.onDirty()
    spool.isDirty = true
    spool.isRefused = false
  } catch (error) {
    frames.forEach((_frame, i) => {
      settle(spool, firstSeq + i)
    })
    if (!spool.isRefused)
      spool.log.error({ err: error, results: frames.length }, 'the disk rejects writes to the spool')
    spool.isRefused = true
  }
  while (spool.segments.bytes() > spool.maxBytes) await dropOldest(spool)
}

async function dropOldest(spool: SpoolState): Promise<void> {
  const { segments, maxBytes, log } = spool
  const oldest = segments.list()[0]!
  const { payloads, at } =
    spool.reading?.segment === oldest ? spool.reading : { ...(await segments.read(oldest)), at: 0 }
  if (spool.reading?.segment === oldest) spool.reading = null
  const droppedBefore = spool.dropped
  for (let i = at; i < payloads.length; i++) if (settleAt(spool, oldest, i) === undefined) spool.dropped++
  spool.uncounted.delete(oldest)
  log.error(
    { results: spool.dropped - droppedBefore, max_bytes: maxBytes },
    'the spool is full; its oldest results were deleted',
  )
  await segments.remove(oldest)
}

async function sync(spool: SpoolState): Promise<void> {
  try {
    await spool.segments.sync()
    spool.isDirty = false
  } catch (error) {
    spool.onDirty()
    throw error
  }
}

/** The oldest late records, at most `atMost`, up to the first one that is still in memory. */
async function peek(spool: SpoolState, atMost: number): Promise<SpoolRecord[]> {
  await write(spool)
  for (;;) {
    spool.reading ??= await openOldest(spool)
    if (!spool.reading) return []
    const { segment, payloads } = spool.reading
    const records: SpoolRecord[] = []
    let at = spool.reading.at
    for (; at < payloads.length && records.length < atMost; at++) {
      const state = getState(spool, segment, at)
      if (state === 'held') break
      if (state === undefined) records.push(decodeRecord(payloads[at]!))
    }
    spool.reading.peeked = at
    if (records.length > 0 || at < payloads.length) return records
    await advance(spool)
  }
}

/** Reads the oldest file. It is not written again. */
async function openOldest({ segments, log }: SpoolState): Promise<SpoolState['reading']> {
  const segment = segments.list()[0]
  if (!segment) return null
  if (segments.list().length === 1) await segments.rotate()
  const { payloads, tornBytes } = await segments.read(segment)
  if (tornBytes > 0) log.warn({ bytes: tornBytes }, 'a file of the spool ends in a truncated record')
  return { segment, payloads, at: 0, peeked: 0 }
}

/** Removes the records that the last peek returned, and their file after its last record. */
async function advance(spool: SpoolState): Promise<void> {
  const { reading } = spool
  if (!reading) return
  const { segment, payloads, peeked } = reading
  for (let at = reading.at; at < peeked; at++) settleAt(spool, segment, at)
  reading.at = peeked
  if (peeked < payloads.length) return
  spool.reading = null
  await spool.segments.remove(segment)
}
