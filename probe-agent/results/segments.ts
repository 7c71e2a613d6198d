import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeFrames } from './frames.ts'

/** One file of the spool. `firstSeq`: the number of its first record; null for a file of an earlier run. */
export type Segment = { path: string; bytes: number; firstSeq: number | null }

export type Segments = {
  /** oldest first; the last one may be open for writing */
  list: () => readonly Segment[]
  bytes: () => number
  /** Appends to the open file, or to a new one. Rejects when the write fails; that file is not written again. */
  write: (bytes: Buffer, firstSeq: number) => Promise<void>
  sync: () => Promise<void>
  /** Closes the file that is open for writing. */
  rotate: () => Promise<void>
  read: (segment: Segment) => Promise<{ payloads: Buffer[]; tornBytes: number }>
  remove: (segment: Segment) => Promise<void>
}

const SUFFIX = '.spool'

/** The spool's files in a directory, numbered in the order of writing. Throws when the directory cannot be created. */
export function openSegments(directory: string, segmentBytes: number): Segments {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const names = readdirSync(directory)
    .filter(name => name.endsWith(SUFFIX))
    .sort()
  const segments: Segment[] = names.map(name => {
    const path = join(directory, name)
    return { path, bytes: statSync(path).size, firstSeq: null }
  })
  let number = Number.parseInt(names.at(-1) ?? '0', 10)
  let current: { segment: Segment; handle: FileHandle } | null = null

  async function openNext(firstSeq: number) {
    number++
    const path = join(directory, `${String(number).padStart(10, '0')}${SUFFIX}`)
    const handle = await open(path, 'ax', 0o600)
    const segment = { path, bytes: 0, firstSeq }
    segments.push(segment)
    return { segment, handle }
  }

  async function rotate(): Promise<void> {
    const ended = current
    current = null
    if (!ended) return
    await ended.handle.datasync()
    await ended.handle.close()
  }

  async function write(bytes: Buffer, firstSeq: number): Promise<void> {
    if (current && current.segment.bytes >= segmentBytes) await rotate()
    current ??= await openNext(firstSeq)
    const { segment, handle } = current
    try {
      await handle.appendFile(bytes)
      segment.bytes += bytes.length
    } catch (error) {
      current = null
      await handle.truncate(segment.bytes).catch(() => {})
      await handle.close().catch(() => {})
      throw error
    }
  }

  return {
    write,
    rotate,
    list: () => segments,
    bytes: () => segments.reduce((sum, segment) => sum + segment.bytes, 0),
    sync: async () => current?.handle.datasync(),
    read: async segment => decodeFrames(await readFile(segment.path)),
    async remove(segment) {
      if (current?.segment === segment) await rotate()
      segments.splice(segments.indexOf(segment), 1)
      await rm(segment.path, { force: true })
    },
  }
}
