import type { Log } from '../../shared/process/log.ts'
import type { Machine } from '../clock.ts'
import { decodeRecord, encodeFrame, encodeRecord, type SpoolRecord } from './frames.ts'
import { openSegments, type Segment } from './segments.ts'

type SpoolOptions = { directory: string; maxBytes: number; machine: Machine; log: Log }

/**
 * Results that JetStream did not store, on disk until they are published as late results (docs/design/probes.md#spool).
 *
 * Every record is written immediately, so it survives a kill -9 of the probe. The file is synced once a second, so a power
 * failure loses at most one second. A file that was not replayed completely is replayed again after a restart, which is
 * safe because the history is idempotent. When the spool is full, its oldest file is deleted.
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

type SegmentReading = { segment: Segment; payloads: Buffer[]; at: number; peeked: number }

/** Throws when the directory cannot be created or read. */
export function openSpool({ directory, maxBytes, machine, log }: SpoolOptions): Spool {
  const segments = openSegments(directory, SEGMENT_BYTES)
  const states = new Map<number, 'held' | 'delivered'>()
  let unwritten: Buffer[] = []
  let nextSeq = 0
  let dropped = 0
  let waiting = 0
  const uncounted = new Set(segments.list())
  let reading: SegmentReading | null = null
  let isDirty = false
  let isRefused = false
  let turn: Promise<unknown> = Promise.resolve()
  const stopSyncing = machine.every(SYNC_INTERVAL_MS, () => void serialize(sync))
  for (const segment of uncounted) void serialize(() => countWaiting(segment))

  /** Serializes reads, writes and removals of files. */
  function serialize<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(error => log.error({ err: error }, 'the spool cannot be read or written'))
    return done
  }

  async function countWaiting(segment: Segment): Promise<void> {
    if (!uncounted.has(segment)) return
    const { payloads } = reading?.segment === segment ? reading : await segments.read(segment)
    waiting += payloads.length - (reading?.segment === segment ? reading.at : 0)
    uncounted.delete(segment)
  }

  async function write(): Promise<void> {
    if (unwritten.length === 0) return
    const frames = unwritten
    unwritten = []
    const firstSeq = nextSeq - frames.length
    try {
      await segments.write(Buffer.concat(frames), firstSeq)
      isDirty = true
      isRefused = false
    } catch (error) {
      frames.forEach((_frame, i) => {
        settle(firstSeq + i)
      })
      if (!isRefused) log.error({ err: error, results: frames.length }, 'the disk rejects writes to the spool')
      isRefused = true
    }
    while (segments.bytes() > maxBytes) await dropOldest()
  }

  async function dropOldest(): Promise<void> {
    const oldest = segments.list()[0]!
    const { payloads, at } = reading?.segment === oldest ? reading : { ...(await segments.read(oldest)), at: 0 }
    if (reading?.segment === oldest) reading = null
    const droppedBefore = dropped
    for (let i = at; i < payloads.length; i++) if (settleAt(oldest, i) === undefined) dropped++
    uncounted.delete(oldest)
    log.error(
      { results: dropped - droppedBefore, max_bytes: maxBytes },
      'the spool is full; its oldest results were deleted',
    )
    await segments.remove(oldest)
  }

  function getState({ firstSeq }: Segment, index: number) {
    return firstSeq === null ? undefined : states.get(firstSeq + index)
  }

  /** Removes the state of a record that is delivered or lost. */
  function settleAt(segment: Segment, index: number) {
    if (segment.firstSeq !== null) return settle(segment.firstSeq + index)
    if (!uncounted.has(segment)) waiting--
    return undefined
  }

  function settle(seq: number) {
    const state = states.get(seq)
    states.delete(seq)
    if (state !== 'delivered') waiting--
    return state
  }

  async function sync(): Promise<void> {
    if (isDirty) await segments.sync()
    isDirty = false
  }

  async function nextReading(): Promise<SegmentReading | null> {
    const segment = segments.list()[0]
    if (!segment) return null
    if (segments.list().length === 1) await segments.rotate()
    const { payloads, tornBytes } = await segments.read(segment)
    if (tornBytes > 0) log.warn({ bytes: tornBytes }, 'a file of the spool ends in a truncated record')
    return { segment, payloads, at: 0, peeked: 0 }
  }

  async function peek(atMost: number): Promise<SpoolRecord[]> {
    await write()
    for (;;) {
      reading ??= await nextReading()
      if (!reading) return []
      const { segment, payloads } = reading
      const records: SpoolRecord[] = []
      let at = reading.at
      for (; at < payloads.length && records.length < atMost; at++) {
        const state = getState(segment, at)
        if (state === 'held') break
        if (state === undefined) records.push(decodeRecord(payloads[at]!))
      }
      reading.peeked = at
      if (records.length > 0 || at < payloads.length) return records
      await advance()
    }
  }

  async function advance(): Promise<void> {
    if (!reading) return
    const { segment, payloads, peeked } = reading
    for (let at = reading.at; at < peeked; at++) settleAt(segment, at)
    reading.at = peeked
    if (peeked < payloads.length) return
    reading = null
    await segments.remove(segment)
  }

  return {
    append(record) {
      const seq = nextSeq++
      states.set(seq, 'held')
      waiting++
      unwritten.push(encodeFrame(encodeRecord(record)))
      if (unwritten.length === 1) void serialize(write)
      return seq
    },
    delivered(seq) {
      if (states.get(seq) !== 'held') return
      states.set(seq, 'delivered')
      waiting--
    },
    release(seq) {
      // An unknown record was rejected by the disk or deleted with a full spool.
      if (!states.delete(seq)) dropped++
    },
    peek: atMost => serialize(() => peek(atMost)),
    consume: () => serialize(advance),
    bytes: () => segments.bytes(),
    waiting: () => waiting,
    dropped: () => dropped,
    isWritable: () => !isRefused,
    close() {
      stopSyncing()
      return serialize(async () => {
        await write()
        await segments.rotate()
      })
    },
  }
}
