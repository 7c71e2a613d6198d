import { parseArgs } from 'node:util'
import type { Env } from '../../../shared/process/env.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'

/** What commands work on. The database acts as the operator: what they change is in the audit log. */
export type CommandContext = {
  db: Db
  /** for work that changes no record as its owner knows it: the audit log has nothing to say of it */
  unauditedDb: Db
  env: Env
}

type CommandHelp = {
  /** what stands after the name: `--region <region> [--reusable]` */
  usage?: string
  /** what it does, in a line */
  summary: string
  /** more lines for its own `--help` */
  details?: string[]
}
/** Answers what is printed on standard output. Throws an error whose message is one sentence. */
export type AdminCommand = CommandHelp & { run(context: CommandContext, args: string[]): Promise<string> }
/** A command that does not need the database: it asks none, or says itself that it is away. */
export type OfflineAdminCommand = CommandHelp & { runOffline(env: Env, args: string[]): string | Promise<string> }

/** The command did its work and its answer is no: the message is printed as other answers are, and the exit code is 1. */
export class NegativeAnswer extends Error {}

/** The command was called wrongly; whoever called it is told, and nothing was done. */
export class UsageError extends Error {}

/** Values of `--name value` and whether a `--flag` is there; throws a sentence for what is missing or unknown. */
export function parseOptions(
  args: string[],
  { required = [], optional = [], flags = [] }: { required?: string[]; optional?: string[]; flags?: string[] },
) {
  const texts = [...required, ...optional].map(name => [name, { type: 'string' as const }])
  const switches = flags.map(name => [name, { type: 'boolean' as const }])
  const known = Object.fromEntries([...texts, ...switches])
  const values: Record<string, unknown> = parseOrExplain(() => parseArgs({ args, options: known })).values
  const missing = required.find(name => !values[name])
  if (missing) throw new UsageError(`--${missing} is missing`)
  return {
    text: (name: string): string | undefined => values[name] as string | undefined,
    has: (flag: string): boolean => values[flag] === true,
  }
}

/** The one argument of a command; `what` says it in words. */
export function parseOnlyArgument(args: string[], what: string): string {
  const [argument] = args
  if (args.length !== 1 || argument === undefined || argument.startsWith('--')) throw new UsageError(`give ${what}`)
  return argument
}

/** The argument that a command begins with, and its options; `what` says it in words. */
export function parseFirstArgument([argument, ...rest]: string[], what: string): [string, string[]] {
  if (argument === undefined || argument.startsWith('--')) throw new UsageError(`give ${what}`)
  return [argument, rest]
}

/** For commands that take nothing. */
export function assertNoArguments(args: string[]): void {
  if (args.length > 0) throw new UsageError(`it takes nothing, and was given ${args.join(' ')}`)
}

/** Throws unless it looks like an e-mail address. */
export function parseEmail(text: string): string {
  if (/^[^@\s]+@[^@\s]+$/.test(text)) return text
  throw new UsageError(`"${text}" is not an e-mail address`)
}

/** Throws unless it can be the name of a record. */
export function parseName(text: string): string {
  if (/^[^\r\n\0]{1,100}$/.test(text)) return text
  throw new UsageError('a name is one line of 1 to 100 characters')
}

/** Lines of columns, to be read by people and by `cut`. */
export const formatTable = (rows: (string | number | null)[][]): string =>
  rows.map(row => row.map(cell => escapeUnprintable(`${cell ?? '-'}`)).join('\t')).join('\n')

/** Customers' words move no cursor and end no column. */
export const escapeUnprintable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, sign => `\\u{${sign.codePointAt(0)!.toString(16)}}`)

/** A value as JSON, of which the same is true. */
export const formatJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, sign =>
    sign
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )

function parseOrExplain<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
