import { parseArgs } from 'node:util'
import { createEgress } from '../shared/egress/index.ts'
import { ConfigError, list } from '../shared/env.ts'
import { changePlan } from './accounts/actions.ts'
import { createAccount } from './accounts/bootstrap/actions.ts'
import { PLANS } from './accounts/plans.ts'
import { defaultPlan, publicUrl, rdapBootstrapUrl, url } from './config.ts'
import { refreshBootstrap } from './expiry/actions.ts'
import { createProbeToken } from './fleet/actions.ts'
import { migrate } from './migrations/postgres/index.ts'
import { now } from './platform/clock.ts'
import { type Db, withPostgres } from './platform/postgres.ts'

/** The operator's command line. Prints what was made on standard output, or one sentence on standard error. */
type Command = { usage: string; run(db: Db, args: string[]): Promise<string> }

class UsageError extends Error {}

const COMMANDS: Record<string, Command> = {
  'probe-token create': {
    usage: 'probe-token create --region <region>      prints an enrolment token for a probe of that region',
    run: (db, args) => createProbeToken(db, options(args, ['region']).region!),
  },
  bootstrap: {
    usage: 'bootstrap --email <email> [--name <name>]  creates an account, prints it with its admin API key as JSON',
    async run(db, args) {
      const { email, name = null } = options(args, ['email'], ['name'])
      if (!/^[^@\s]+@[^@\s]+$/.test(email!)) throw new UsageError(`"${email}" is not an e-mail address`)
      const [plan, origin] = [defaultPlan(process.env), publicUrl(process.env)]
      return JSON.stringify(
        await db.transaction(tx => createAccount(tx, { email: email!, name, plan, publicUrl: origin })),
      )
    },
  },
  'plan set': {
    usage: `plan set <organization> <plan>             changes a plan: ${PLANS.join(', ')}`,
    async run(db, args) {
      const [organizationId = '', plan = '', ...rest] = args
      if (rest.length > 0) throw new UsageError('plan set takes an organization and a plan')
      await changePlan(db, organizationId, plan)
      return `organization ${organizationId} has plan ${plan} now`
    },
  },
  'rdap refresh': {
    usage: 'rdap refresh                              fetches the list of registries asked about domains',
    async run(db) {
      const egress = createEgress({ allow: list(process.env, 'EGRESS_ALLOW') })
      const count = await refreshBootstrap(db, egress, rdapBootstrapUrl(process.env), now())
      return `RDAP services of ${count} top-level domains are known now`
    },
  },
}

/** Values of `--name value`; throws a sentence for what is missing or unknown. */
function options(args: string[], required: string[], optional: string[] = []): Record<string, string | undefined> {
  const known = Object.fromEntries([...required, ...optional].map(name => [name, { type: 'string' as const }]))
  const { values } = parsed(() => parseArgs({ args, options: known }))
  const missing = required.find(name => !values[name])
  if (missing) throw new UsageError(`--${missing} is missing`)
  return values
}

function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function main(args: string[]): Promise<string> {
  const name = Object.keys(COMMANDS).find(words => words === args.slice(0, words.split(' ').length).join(' '))
  const usages = Object.values(COMMANDS).map(({ usage }) => `  ${usage}`)
  if (!name || args.includes('--help')) {
    const help = name ? `  ${COMMANDS[name]!.usage}` : usages.join('\n')
    if (args.includes('--help')) return `Usage:\n${help}`
    throw new UsageError(`Usage:\n${help}`)
  }
  const databaseUrl = url(process.env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  await migrate(databaseUrl).catch(({ message, code }) => {
    throw new ConfigError(
      `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) cannot be used: ${message || code}`,
    )
  })
  return withPostgres(databaseUrl, db => COMMANDS[name]!.run(db, args.slice(name.split(' ').length)))
}

try {
  console.log(await main(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message || error)
  process.exitCode = 1
}
