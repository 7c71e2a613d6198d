import { parseArgs } from 'node:util'
import type { Env } from '../../../shared/process/env.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'

/** The context of commands. Changes through `db` are in the audit log with the operator as actor. */
type CommandContext = {
  db: Db
  /** for changes that are invisible to the owner of a record; they are not in the audit log */
  unauditedDb: Db
  env: Env
}

type CommandHelp = {
  /** the arguments: `--region <region> [--reusable]` */
  usage?: string
  /** one line, in the imperative mood */
  summary: string
  /** more lines for `--help` of this command */
  details?: string[]
}
/** Returns the text for standard output. Throws an error whose message is one sentence. */
export type AdminCommand = CommandHelp & { run(context: CommandContext, args: string[]): Promise<string> }
/**
 * A command that works without the database, or with any schema, and reports itself that the database is unreachable. `print`
 * shows a line to the operator while it waits.
 */
export type OfflineAdminCommand = CommandHelp & {
  runOffline(env: Env, args: string[], print: (line: string) => void): string | Promise<string>
}

/** The command succeeded with a negative result: the message goes to standard output, and the exit code is 1. */
export class NegativeAnswer extends Error {}

/** The arguments are wrong, and nothing was done. */
export class UsageError extends Error {}

/** Values of `--name value` and presence of `--flag`. Throws a UsageError for missing or unknown options. */
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

/** The only argument of a command; `what` describes it. */
export function parseOnlyArgument(args: string[], what: string): string {
  const [argument] = args
  if (args.length !== 1 || argument === undefined || argument.startsWith('--'))
    throw new UsageError(`expected one argument: ${what}`)
  return argument
}

/** The first argument of a command, and the remaining ones; `what` describes the first. */
export function parseFirstArgument([argument, ...rest]: string[], what: string): [string, string[]] {
  if (argument === undefined || argument.startsWith('--')) throw new UsageError(`missing argument: ${what}`)
  return [argument, rest]
}

/** For commands without arguments. */
export function assertNoArguments(args: string[]): void {
  if (args.length > 0) throw new UsageError(`this command accepts no arguments: ${args.join(' ')}`)
}

/** Throws a UsageError unless the text looks like an email address. */
export function parseEmail(text: string): string {
  if (/^[^@\s]+@[^@\s]+$/.test(text)) return text
  throw new UsageError(`"${text}" is not an email address`)
}

/** Throws a UsageError unless the text can be the name of a record. */
export function parseName(text: string): string {
  if (/^[^\r\n\0]{1,100}$/.test(text)) return text
  throw new UsageError('a name must be one line of 1 to 100 characters')
}

/** Rows with columns separated by tabs, for people and for `cut`. */
export const formatTable = (rows: (string | number | null)[][]): string =>
  rows.map(row => row.map(cell => escapeUnprintable(`${cell ?? '-'}`)).join('\t')).join('\n')

/** Escapes control characters in texts of customers, which could move the cursor or end a column. */
export const escapeUnprintable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, sign => `\\u{${sign.codePointAt(0)!.toString(16)}}`)

/** A value as JSON, with the same characters escaped. */
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
