import { ConfigError } from '../shared/process/env.ts'
import { readUrl } from './config.ts'
import { migratePostgres } from './foundation/migrations/postgres/index.ts'
import { withPostgres } from './foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR, withAuditActor } from './foundation/web/auth/audit-actor.ts'
import { NegativeAnswer, UsageError } from './operations/admin/command.ts'
import { COMMANDS, findCommand, formatHelp, formatUsageHint } from './operations/admin/command-line.ts'

/**
 * The operator's command line. Prints what was asked for on standard output, or one sentence on standard error: exit code 2
 * when it was called wrongly, 1 when it could not be done or when the answer is no.
 */
async function main(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const found = findCommand(args)
  if (args.includes('--help')) return formatHelp(found?.name ?? null, args[0])
  if (!found) throw new UsageError(formatUsageHint(args))
  const command = COMMANDS[found.name]!
  if ('runOffline' in command) return command.runOffline(env, found.rest)

  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  await migratePostgres(databaseUrl).catch(({ message, code }) => {
    throw new ConfigError(
      `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) cannot be used: ${message || code}`,
    )
  })
  return withPostgres(databaseUrl, db =>
    command.run({ db: withAuditActor(db, OPERATOR_ACTOR), unauditedDb: db, env }, found.rest),
  )
}

try {
  const told = await main(process.argv.slice(2), process.env)
  // an empty list is no line
  if (told !== '') console.log(told)
} catch (error) {
  const print = error instanceof NegativeAnswer ? console.log : console.error
  print((error as Error).message || error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
// a connection to an engine that says nothing would keep the program for minutes
process.exit()
