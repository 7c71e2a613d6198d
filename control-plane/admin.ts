import { parseArgs } from 'node:util'
import { createEgress } from '../shared/egress/index.ts'
import { ConfigError, list } from '../shared/env.ts'
import { changePlan } from './accounts/actions.ts'
import { createAccount } from './accounts/bootstrap/actions.ts'
import { createOperatorKey, createOperatorProject } from './accounts/operator/actions.ts'
import { PLANS } from './accounts/plans.ts'
import { createCanaries, removeCanaries } from './canaries/actions.ts'
import { PURPOSE as CANARIES } from './canaries/address.ts'
import { lineOf } from './canaries/line.ts'
import { DEFAULT_SCHEDULE, scheduleProblem } from './canaries/schedule.ts'
import { allCanaries } from './canaries/store.ts'
import { defaultPlan, natsOperator, publicUrl, rdapBootstrapUrl, secretKey, url } from './config.ts'
import { refreshBootstrap } from './expiry/actions.ts'
import { undrainProbe } from './fleet/drain-actions.ts'
import { createProbeToken, revokeProbe, revokeProbeToken } from './fleet/enrolment-actions.ts'
import { type ListedProbe, listProbes } from './fleet/enrolment-store.ts'
import { migrate } from './migrations/postgres/index.ts'
import { now } from './platform/clock.ts'
import { newOperatorSeed, serverConfiguration } from './platform/nats-operator.ts'
import { type Db, withPostgres } from './platform/postgres.ts'
import { createSecrets } from './platform/secrets.ts'
import { createSigner } from './platform/signer.ts'

/** The operator's command line. Prints what was made on standard output, or one sentence on standard error. */
type Command = { usage: string; run(db: Db, args: string[]): Promise<string> }

class UsageError extends Error {}

const COMMANDS: Record<string, Command> = {
  'probe-token create': {
    usage: `probe-token create --region <region>      prints an enrolment token for one probe of that region, good for 7 days;
    [--reusable]                             for any number of probes, as a fleet that scales by itself needs`,
    async run(db, args) {
      const isReusable = args.includes('--reusable')
      const { region } = options(
        args.filter(arg => arg !== '--reusable'),
        ['region'],
      )
      return createProbeToken(db, region!, { isReusable })
    },
  },
  'probe-token revoke': {
    usage: 'probe-token revoke <token>                shuts out every probe that a token let in, within 5 seconds',
    async run(db, args) {
      await revokeProbeToken(db, only(args, 'probe-token revoke takes a token'))
      return 'the token is revoked, and every probe that it let in'
    },
  },
  'probe list': {
    usage: 'probe list                                prints id, region, name and last sign of life of every probe',
    async run(db, args) {
      if (args.length > 0) throw new UsageError('probe list takes nothing')
      const probes = await listProbes(db)
      const line = ({ id, region, name, lastSeenAt, isRevoked, isDrained }: ListedProbe) =>
        [
          ...[id, region, name, lastSeenAt.toISOString()],
          ...(isRevoked ? ['revoked'] : []),
          ...(isDrained ? ['drained'] : []),
        ].join('\t')
      return probes.map(line).join('\n')
    },
  },
  'probe revoke': {
    usage:
      'probe revoke <id>                         shuts out one probe within 5 seconds; a new token lets it in anew',
    async run(db, args) {
      const id = only(args, 'probe revoke takes the id of a probe')
      await revokeProbe(db, id)
      return `probe ${id} is revoked`
    },
  },
  'probe undrain': {
    usage:
      'probe undrain <id>                        gives work again to a probe that was drained for disagreeing often',
    async run(db, args) {
      const id = only(args, 'probe undrain takes the id of a probe')
      await undrainProbe(db, id)
      return `probe ${id} gets work again`
    },
  },
  bootstrap: {
    usage: 'bootstrap --email <email> [--name <name>]  creates an account, prints it with its admin API key as JSON',
    async run(db, args) {
      const { email, name = null } = options(args, ['email'], ['name'])
      assertEmail(email!)
      const [plan, origin] = [defaultPlan(process.env), publicUrl(process.env)]
      return JSON.stringify(
        await db.transaction(tx => createAccount(tx, { email: email!, name, plan, publicUrl: origin })),
      )
    },
  },
  'operator create': {
    usage: `operator create --email <email>           makes the project that sees the fleet and hears of its troubles, prints it
    with its admin API key as JSON; again it names the project that is there`,
    async run(db, args) {
      const { email } = options(args, ['email'])
      assertEmail(email!)
      return JSON.stringify(await createOperatorProject(db, { email: email!, publicUrl: publicUrl(process.env) }))
    },
  },
  'operator key': {
    usage: 'operator key                              prints another admin API key of the operator project',
    async run(db, args) {
      if (args.length > 0) throw new UsageError('operator key takes nothing')
      return createOperatorKey(db)
    },
  },
  'canaries create': {
    usage: `canaries create [--url <origin>]          makes a target that fails on purpose for each region with probes, to measure
    [--every <seconds>] [--for <seconds>]    how fast that is told; again it changes them, and adds and drops regions`,
    async run(db, args) {
      const { url: origin = publicUrl(process.env), ...times } = options(args, [], ['url', 'every', 'for'])
      const schedule = {
        everySeconds: Number(times.every ?? DEFAULT_SCHEDULE.everySeconds),
        forSeconds: Number(times.for ?? DEFAULT_SCHEDULE.forSeconds),
      }
      const problem = scheduleProblem(schedule)
      if (problem !== null) throw new UsageError(problem)
      const key = secretKey(process.env)
      const { checkLiteral } = createEgress({ allow: list(process.env, 'EGRESS_ALLOW') })
      const sealed = { secrets: createSecrets(key), sign: createSigner(key, CANARIES) }
      const tools = { db, ...sealed, checkLiteral, publicUrl: publicUrl(process.env) }
      await createCanaries(tools, { ...schedule, origin: origin.replace(/\/+$/, '') }, now())
      return listCanaries(db)
    },
  },
  'canaries list': {
    usage: 'canaries list                             prints region, monitor, status, next and last planned failure',
    async run(db, args) {
      if (args.length > 0) throw new UsageError('canaries list takes nothing')
      return listCanaries(db)
    },
  },
  'canaries remove': {
    usage: 'canaries remove                           deletes them; what was measured stays',
    async run(db, args) {
      if (args.length > 0) throw new UsageError('canaries remove takes nothing')
      const wereThere = await removeCanaries(db, publicUrl(process.env), now())
      return wereThere ? 'the canaries are removed' : 'there are no canaries'
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

/** What asks no database. */
const OFFLINE: Record<string, Omit<Command, 'run'> & { run(args: string[]): string }> = {
  'nats seed': {
    usage: 'nats seed                                 prints a new seed for NATS_OPERATOR_SEED',
    run: () => newOperatorSeed(),
  },
  'nats config': {
    usage: 'nats config --dir <directory>             prints what NATS servers have to be told of NATS_OPERATOR_SEED',
    run(args) {
      const operator = natsOperator(process.env)
      if (operator === null) throw new ConfigError('NATS_OPERATOR_SEED is not set')
      return serverConfiguration(operator, options(args, ['dir']).dir!)
    },
  },
}

async function listCanaries(db: Db): Promise<string> {
  const at = now()
  return (await allCanaries(db)).map(canary => lineOf(canary, at)).join('\n')
}

function assertEmail(email: string): void {
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new UsageError(`"${email}" is not an e-mail address`)
}

function only(args: string[], sentence: string): string {
  if (args.length !== 1) throw new UsageError(sentence)
  return args[0]!
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
  const all = { ...COMMANDS, ...OFFLINE }
  const name = Object.keys(all).find(words => words === args.slice(0, words.split(' ').length).join(' '))
  const usages = Object.values(all).map(({ usage }) => `  ${usage}`)
  if (!name || args.includes('--help')) {
    const help = name ? `  ${all[name]!.usage}` : usages.join('\n')
    if (args.includes('--help')) return `Usage:\n${help}`
    throw new UsageError(`Usage:\n${help}`)
  }
  const rest = args.slice(name.split(' ').length)
  if (OFFLINE[name]) return OFFLINE[name].run(rest)
  const databaseUrl = url(process.env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  await migrate(databaseUrl).catch(({ message, code }) => {
    throw new ConfigError(
      `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) cannot be used: ${message || code}`,
    )
  })
  return withPostgres(databaseUrl, db => COMMANDS[name]!.run(db, rest))
}

try {
  console.log(await main(process.argv.slice(2)))
} catch (error) {
  console.error((error as Error).message || error)
  process.exitCode = 1
}
