import { buildWall } from '../../control-plane/dashboard/wall/wall-data.ts'
import { renderWallPage } from '../../control-plane/dashboard/wall/wall-document.tsx'
import { buildBoard, NOW } from './dashboard-fixtures.ts'
import { FULL } from './dashboard-scenes.ts'

/** A wallboard as `/wall/:token` answers it. */
export type WallScene = { name: string; address: string; html: string }

const buildScene = (name: string, board: ReturnType<typeof buildBoard>): WallScene => {
  const wall = buildWall({ name: 'Office', query: '', monitors: board.monitors, unreadSince: null, atMs: NOW })
  return { name: `wall-token-${name}`, address: '/wall/token', html: renderWallPage(wall, NOW, 'test') }
}

/** The wallboard with trouble, when all is quiet, and without a monitor. */
export const WALL_SCENES: WallScene[] = [
  buildScene('full', FULL.board!),
  buildScene('quiet', buildBoard([{ name: 'Website', tags: ['prod'] }, { name: 'Search' }])),
  buildScene('empty', buildBoard([])),
]
