import { createHash, hash } from 'node:crypto'
import type { LogPosition } from '../position.ts'

/** One monitor: its values as JSON, in the order of the columns, and the version of the board that changed them last. */
type BoardRow = { fragments: string[]; version: number }

/** All monitors of a project in memory, as `position` or a later moment has them. */
export type Board = {
  position: LogPosition
  rows: Map<string, BoardRow>
  /** of the content, without order and position */
  digest: Uint32Array
  /** an estimate of the memory that it needs */
  bytes: number
}

const DIGEST_WORDS = 4
/** Objects and map entries of a row, in addition to its texts. */
const ROW_OVERHEAD_BYTES = 300

export const createBoard = (position: LogPosition): Board => ({
  position,
  rows: new Map(),
  digest: new Uint32Array(DIGEST_WORDS),
  bytes: 0,
})

/** Sets the values of a monitor; null: it is gone. A row with the same values keeps its version. */
export function setRow(board: Board, id: string, fragments: string[] | null, version: number): void {
  const before = board.rows.get(id)
  if (before && fragments && before.fragments.every((text, i) => text === fragments[i])) return
  if (before) {
    applyDigest(board.digest, before.fragments)
    board.bytes -= estimateBytes(before.fragments)
    if (!fragments) board.rows.delete(id)
  }
  if (!fragments) return
  applyDigest(board.digest, fragments)
  board.bytes += estimateBytes(fragments)
  board.rows.set(id, { fragments, version })
}

/** Applied a second time, it removes the row: the digest is the exclusive or of those of the rows. */
function applyDigest(digest: Uint32Array, fragments: string[]): void {
  const bytes = hash('sha256', fragments.join(','), 'buffer')
  for (let word = 0; word < DIGEST_WORDS; word++) digest[word]! ^= bytes.readUInt32LE(4 * word)
}

const estimateBytes = (fragments: string[]): number =>
  fragments.reduce((sum, text) => sum + text.length, ROW_OVERHEAD_BYTES)

/** Identifies the content of a board with other values that are part of the answer. */
export function hashBoard({ digest, rows }: Board, other: string): string {
  const content = Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength)
  return createHash('sha256').update(content).update(`${rows.size} ${other}`).digest('base64url').slice(0, 22)
}
