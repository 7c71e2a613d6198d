import { readUrl } from '../shared/process/env.ts'
import { exitAfterOutput } from '../shared/process/exit.ts'
import { withPostgres } from './foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR, withAuditActor } from './foundation/web/auth/audit-actor.ts'
import { NegativeAnswer, UsageError } from './operations/admin/command.ts'
import { COMMANDS, findCommand, formatHelp, formatUsageHint } from './operations/admin/command-line.ts'
import { assertSchema } from './operations/admin/schema-actions.ts'

/**
 * The operator's command line. Prints the result on standard output, or one sentence on standard error. Exit code 2: the
 * arguments are wrong; 1: the command failed or its result is negative.
 */
async function main(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const found = findCommand(args)
  if (args.includes('--help')) return formatHelp(found?.name ?? null, args[0])
  if (!found) throw new UsageError(formatUsageHint(args))
  const command = COMMANDS[found.name]!
  if ('runOffline' in command) return command.runOffline(env, found.rest, console.error)

  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  await assertSchema(databaseUrl, console.error)
  return withPostgres(databaseUrl, db =>
    command.run({ db: withAuditActor(db, OPERATOR_ACTOR), unauditedDb: db, env }, found.rest),
  )
}

try {
  const output = await main(process.argv.slice(2), process.env)
  // an empty list prints no line
  if (output !== '') console.log(output)
} catch (error) {
  const print = error instanceof NegativeAnswer ? console.log : console.error
  print((error as Error).message || error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
// otherwise a connection to an engine that does not answer would keep the process running for minutes
await exitAfterOutput(Number(process.exitCode ?? 0), Number.POSITIVE_INFINITY)
