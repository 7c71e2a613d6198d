import type { WallData } from '../wall-data.ts'

/** An answer of `/wall/:token/data`. `body`: its JSON; null for other texts. */
type WallAnswer = { status: number; body: unknown }

/** What the screen shows. `build`: of the server that rendered it. */
type ShownWall = { at: string; build: string }

/** `build`: another one than that of the page, which is then loaded again. */
type AnswerEffect = { kind: 'keep' } | { kind: 'revoked' } | { kind: 'show'; data: WallData; build: string | null }

/** An answer that another one has overtaken is at most this much older. More: the clock of the server was set back. */
const MAX_BEHIND_MS = 60_000

/** What an answer changes. A 404 that is not one of the API, such as that of a proxy, does not end the link. */
export function judgeAnswer({ status, body }: WallAnswer, shown: ShownWall): AnswerEffect {
  const { error, data, build } = (body ?? {}) as { error?: { code?: unknown }; data?: WallData; build?: unknown }
  if (status === 404 && typeof error?.code === 'string') return { kind: 'revoked' }
  if (status !== 200 || !data) return { kind: 'keep' }
  const behindMs = Date.parse(shown.at) - Date.parse(data.at)
  if (behindMs > 0 && behindMs <= MAX_BEHIND_MS) return { kind: 'keep' }
  return { kind: 'show', data, build: typeof build === 'string' && build !== shown.build ? build : null }
}
