import { ConfigError } from '../shared/env.ts'
import { AnswerNo, UsageError } from './admin/command.ts'
import { COMMANDS, commandOf, helpInstead, helpOf } from './admin/index.ts'
import { url } from './config.ts'
import { migrate } from './migrations/postgres/index.ts'
import { withPostgres } from './platform/postgres.ts'
import { actingFor, OPERATOR } from './web/acting.ts'

/**
 * The operator's command line. Prints what was asked for on standard output, or one sentence on standard error: exit code 2
 * when it was called wrongly, 1 when it could not be done or when the answer is no.
 */
async function main(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const found = commandOf(args)
  if (args.includes('--help')) return helpOf(found?.name ?? null, args[0])
  if (!found) throw new UsageError(helpInstead(args))
  const command = COMMANDS[found.name]!
  if ('runOffline' in command) return command.runOffline(env, found.rest)

  const databaseUrl = url(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  await migrate(databaseUrl).catch(({ message, code }) => {
    throw new ConfigError(
      `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) cannot be used: ${message || code}`,
    )
  })
  return withPostgres(databaseUrl, db => command.run({ db: actingFor(db, OPERATOR), quietDb: db, env }, found.rest))
}

try {
  const told = await main(process.argv.slice(2), process.env)
  // an empty list is no line
  if (told !== '') console.log(told)
} catch (error) {
  const print = error instanceof AnswerNo ? console.log : console.error
  print((error as Error).message || error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
// a connection to an engine that says nothing would keep the program for minutes
process.exit()
