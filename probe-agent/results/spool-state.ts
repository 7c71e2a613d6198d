import type { Log } from '../../shared/process/log.ts'
import type { Segment, Segments } from './segments.ts'

/** A file that is being replayed. `at`: the number of its records that are done; `peeked`: the position after the last peek. */
type SegmentReading = { segment: Segment; payloads: Buffer[]; at: number; peeked: number }

/** What the functions of the spool share. */
export type SpoolState = {
  segments: Segments
  maxBytes: number
  log: Log
  /** `held`: also in memory; `delivered`: published from there. A record to be replayed, or of an earlier run, has none. */
  states: Map<number, 'held' | 'delivered'>
  /** frames that are not on disk yet */
  unwritten: Buffer[]
  nextSeq: number
  dropped: number
  waiting: number
  /** files of an earlier run whose records are not in `waiting` yet */
  uncounted: Set<Segment>
  reading: SegmentReading | null
  /** something was written since the last sync */
  isDirty: boolean
  /** called by the first of these writes */
  onDirty(): void
  /** the disk rejected the last write */
  isRefused: boolean
  /** ends with the last operation on files */
  turn: Promise<unknown>
}

export function createSpoolState(segments: Segments, maxBytes: number, log: Log): SpoolState {
  return {
    segments,
    maxBytes,
    log,
    states: new Map(),
    unwritten: [],
    nextSeq: 0,
    dropped: 0,
    waiting: 0,
    uncounted: new Set(segments.list()),
    reading: null,
    isDirty: false,
    onDirty() {},
    isRefused: false,
    turn: Promise.resolve(),
  }
}

/** Serializes reads, writes and removals of files. */
export function serialize<T>(spool: SpoolState, work: () => Promise<T>): Promise<T> {
  const done = spool.turn.then(work)
  spool.turn = done.catch(error => spool.log.error({ err: error }, 'the spool cannot be read or written'))
  return done
}

/** Adds the records of a file of an earlier run to those that wait. */
export async function countWaiting(spool: SpoolState, segment: Segment): Promise<void> {
  const { uncounted } = spool
  if (!uncounted.has(segment)) return
  const { payloads } = spool.reading?.segment === segment ? spool.reading : await spool.segments.read(segment)
  spool.waiting += payloads.length - (spool.reading?.segment === segment ? spool.reading.at : 0)
  uncounted.delete(segment)
}

/** Returns the state of a record of a file. */
export function getState({ states }: SpoolState, { firstSeq }: Segment, index: number) {
  return firstSeq === null ? undefined : states.get(firstSeq + index)
}

/** Removes the state of a record of a file that is delivered or lost, and returns it. */
export function settleAt(spool: SpoolState, segment: Segment, index: number) {
  if (segment.firstSeq !== null) return settle(spool, segment.firstSeq + index)
  if (!spool.uncounted.has(segment)) spool.waiting--
  return undefined
}

/** Removes the state of a record that is delivered or lost, and returns it. */
export function settle(spool: SpoolState, seq: number) {
  const state = spool.states.get(seq)
  spool.states.delete(seq)
  if (state !== 'delivered') spool.waiting--
  return state
}
