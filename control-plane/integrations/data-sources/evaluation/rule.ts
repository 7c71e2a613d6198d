import type { PathMatch } from '../document/matches.ts'
import type { DocumentPath } from '../document/path.ts'

/** What the address answered that a value is; `isOk` null: nobody could tell. `said`: "answers 503". */
export type UrlCheck = { isOk: boolean | null; said: string }
export type UrlChecks = ReadonlyMap<string, UrlCheck>

/** What a rule may look at beside the value. */
export type RuleContext = { root: unknown; now: Date; answers: UrlChecks }

/** Whether a rule holds, null where that cannot be told, and what it saw: `is "failing", expected "ok"`. */
export type RuleFinding = { holds: boolean | null; message: string }
export type CompiledRule = (match: PathMatch, scene: RuleContext) => RuleFinding

/** Keys of a rule's config, each with what is wrong there. */
export type ConfigProblem = { key: string; message: string }

/** Reads a rule's config once, for a field of this path; then it judges every match. */
export type CompileRule = (
  config: Record<string, unknown>,
  path: DocumentPath,
) => CompiledRule | { problems: ConfigProblem[] }
