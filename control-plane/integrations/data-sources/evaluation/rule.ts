import type { PathMatch } from '../document/matches.ts'
import type { DocumentPath } from '../document/path.ts'

/**
 * The result of requesting a URL. `isOk` is null when it is unknown. `message`: "responds with 503". `isSilent`: there was no
 * HTTP response.
 */
export type UrlCheck = { isOk: boolean | null; message: string; isSilent?: true }
export type UrlChecks = ReadonlyMap<string, UrlCheck>

/** What a rule may use in addition to the value. */
export type RuleContext = { root: unknown; now: Date; urlChecks: UrlChecks }

/** Whether a rule holds (null: unknown), and a message such as `is "failing", expected "ok"`. */
export type RuleFinding = { holds: boolean | null; message: string }
export type CompiledRule = (match: PathMatch, context: RuleContext) => RuleFinding

/** A key of a rule's configuration, and what is wrong with its value. */
export type ConfigProblem = { key: string; message: string }

/** Compiles a rule's configuration once for a field with this path. The compiled rule evaluates every match. */
export type CompileRule = (
  config: Record<string, unknown>,
  path: DocumentPath,
) => CompiledRule | { problems: ConfigProblem[] }
