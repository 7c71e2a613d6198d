import type { Match } from './matches.ts'
import type { Path } from './path.ts'

/** What the address answered that a value is; `isOk` null: nobody could tell. `said`: "answers 503". */
export type HttpAnswer = { isOk: boolean | null; said: string }
export type HttpAnswers = ReadonlyMap<string, HttpAnswer>

/** What a rule may look at beside the value. */
export type Scene = { root: unknown; now: Date; answers: HttpAnswers }

/** Whether a rule holds, null where that cannot be told, and what it saw: `is "failing", expected "ok"`. */
export type Finding = { holds: boolean | null; said: string }
export type Judge = (match: Match, scene: Scene) => Finding

/** Keys of a rule's config, each with what is wrong there. */
export type ConfigProblem = { key: string; message: string }

/** Reads a rule's config once, for a field of this path; then it judges every match. */
export type ReadRule = (config: Record<string, unknown>, path: Path) => Judge | { problems: ConfigProblem[] }
