import { createEgress } from '../../shared/egress/index.ts'
import { ConfigError, list } from '../../shared/env.ts'
import { natsOperator, rdapBootstrapUrl } from '../config.ts'
import { refreshBootstrap } from '../expiry/actions.ts'
import { now } from '../platform/clock.ts'
import { newOperatorSeed, serverConfiguration } from '../platform/nats-operator.ts'
import { type Command, none, type OfflineCommand, options } from './command.ts'

/** What the installation has to know of the world. */
export const OUTSIDE_COMMANDS: Record<string, Command> = {
  'rdap refresh': {
    does: 'fetches the list of registries asked about domains',
    async run({ db, env }, args) {
      none(args)
      const egress = createEgress({ allow: list(env, 'EGRESS_ALLOW') })
      const count = await refreshBootstrap(db, egress, rdapBootstrapUrl(env), now())
      return `RDAP services of ${count} top-level domains are known now`
    },
  },
}

/** What NATS servers have to know of the installation. */
export const NATS_COMMANDS: Record<string, OfflineCommand> = {
  'nats seed': {
    does: 'prints a new seed for NATS_OPERATOR_SEED',
    runOffline(_env, args) {
      none(args)
      return newOperatorSeed()
    },
  },
  'nats config': {
    takes: '--dir <directory>',
    does: 'prints what NATS servers have to be told of NATS_OPERATOR_SEED',
    runOffline(env, args) {
      const operator = natsOperator(env)
      if (operator === null) throw new ConfigError('NATS_OPERATOR_SEED is not set')
      return serverConfiguration(operator, options(args, { required: ['dir'] }).text('dir')!)
    },
  },
}
