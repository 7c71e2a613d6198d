import { createLruCache } from '../../../../shared/lru-cache.ts'
import { assertCallerWorks } from '../../../accounts/api-keys/actions.ts'
import { lockOrganization } from '../../../accounts/members/store.ts'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { isId, newId, randomToken } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs as machineMonotonicMs, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import { createPublicLookup } from '../../../foundation/web/limits/public-lookup.ts'
import { conflict, notFound } from '../../../foundation/web/server/errors.ts'
import { buildBoardJson } from '../board/board-body.ts'
import type { BoardReader } from '../board/board-reader.ts'
import type { WallLinkCreate } from './schemas.ts'
import {
  type ActiveWallLink,
  findWallLink,
  insertWallLink,
  lockWallLinkCount,
  markWallLinkUsed,
  removeWallLink,
  type StoredWallLink,
} from './store.ts'

const MAX_LINKS = 20
const TOKEN_BYTES = 24
/** 24 bytes as base64url */
const TOKEN = /^[\w-]{32}$/

/**
 * Creates a link. Only this result contains its token. An access review deletes links, so the lock of the organization orders
 * this with it, as for keys. Throws 401 for a key or session that has ended, 403 for a person whose role was lowered, and 409 when the project has too many links.
 */
export function createWallLink(
  db: Db,
  caller: ApiCaller,
  { name, query = '' }: WallLinkCreate,
  now: Date,
): Promise<{ link: StoredWallLink; token: string }> {
  const token = randomToken(TOKEN_BYTES)
  const link = { id: newId(), name, query, createdAt: now }
  const { projectId, organizationId } = caller
  return db.transaction(async tx => {
    await lockOrganization(tx, organizationId)
    await assertCallerWorks(tx, caller, 'write')
    if ((await lockWallLinkCount(tx, projectId)) >= MAX_LINKS)
      throw conflict(`a project can have at most ${MAX_LINKS} wall links; delete one that is not used`)
    await insertWallLink(tx, { ...link, projectId, tokenHash: sha256(token) })
    return { link: { ...link, lastUsedAt: null }, token }
  })
}

/** Throws 404. The link stops working at the next read. */
export async function deleteWallLink(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id)) throw notFound('wall link')
  const isRemoved = await db.transaction(tx => removeWallLink(tx, projectId, id))
  if (!isRemoved) throw notFound('wall link')
}

/** What a link gives access to. `monitors`: the columns of the board, as in the API. `unreadSince`: since when results have not been read */
type WallBoard = {
  name: string
  query: string
  monitors: Record<string, unknown[]>
  unreadSince: Date | null
  atMs: number
}

/** Reads the board of a token. Null for one that does not exist; throws 429 for a network with too many of those. */
export type ReadWallBoard = (token: string, network: string) => Promise<WallBoard | null>

const MISSES_PER_MINUTE = 60
const MAX_BOARDS = 100
/** Several screens with the same link cause one reading of the board in this time. */
const KEEP_MS = 5_000

type WallBoardTools = {
  db: Db
  boards: BoardReader
  readUnreadSince: (projectId: string) => Promise<Date | null>
  /** the clock for the age of boards */
  monotonicMs?: () => number
}

export function createWallBoardReader(tools: WallBoardTools): ReadWallBoard {
  const { db, boards, readUnreadSince, monotonicMs = machineMonotonicMs } = tools
  const lookUp = createPublicLookup({ what: 'wall links', missesPerMinute: MISSES_PER_MINUTE })
  const kept = createLruCache<{ readMs: number; board: Promise<WallBoard> }>(MAX_BOARDS)

  async function read({ projectId, name, query }: ActiveWallLink, atMs: number): Promise<WallBoard> {
    const board = await boards.read(projectId)
    const unreadSince = await readUnreadSince(projectId)
    const scope = { projectId, position: board.position, ids: null, regionsWithoutProbe: [], unreadSince }
    const { monitors } = JSON.parse(await buildBoardJson(board, scope, createYieldPoint())) as WallBoard
    return { name, query, monitors, unreadSince, atMs }
  }

  return async (token, network) => {
    const hash = sha256(token)
    const link = await lookUp(network, hash.toString('base64'), async () =>
      TOKEN.test(token) ? findWallLink(db, hash) : null,
    )
    if (!link) return null
    const atMs = nowMs()
    const minute = new Date(Math.floor(atMs / 60_000) * 60_000)
    if (link.lastUsedAt === null || link.lastUsedAt < minute) await markWallLinkUsed(db, link.id, minute)
    const known = kept.get(link.id)
    // the wall clock may be set back, and the board would be kept until it catches up
    const readMs = monotonicMs()
    if (known && readMs - known.readMs < KEEP_MS) return await known.board
    const board = read(link, atMs)
    kept.set(link.id, { readMs, board })
    // a failed reading is not kept
    board.catch(() => kept.delete(link.id))
    return await board
  }
}
