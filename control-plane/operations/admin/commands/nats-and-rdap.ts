import { createEgress } from '../../../../shared/egress/index.ts'
import { ConfigError, readList } from '../../../../shared/process/env.ts'
import { readRdapBootstrapUrl } from '../../../config.ts'
import { buildServerConfiguration, generateOperatorSeed } from '../../../foundation/platform/nats/operator.ts'
import { readNatsOperator } from '../../../foundation/platform/nats/settings.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { refreshRdapBootstrap } from '../../../verdict/expiry/actions.ts'
import { type AdminCommand, assertNoArguments, type OfflineAdminCommand, parseOptions } from '../command.ts'

/** External data that the installation needs. */
export const RDAP_COMMANDS: Record<string, AdminCommand> = {
  'rdap refresh': {
    summary: 'fetch the list of RDAP services of domain registries',
    async run({ db, env }, args) {
      assertNoArguments(args)
      const egress = createEgress({ allow: readList(env, 'EGRESS_ALLOW') })
      const count = await refreshRdapBootstrap(db, egress, readRdapBootstrapUrl(env), now())
      return `the RDAP services of ${count} top-level domains were stored`
    },
  },
}

/** Configuration for NATS servers. */
export const NATS_COMMANDS: Record<string, OfflineAdminCommand> = {
  'nats seed': {
    summary: 'print a new seed for NATS_OPERATOR_SEED',
    runOffline(_env, args) {
      assertNoArguments(args)
      return generateOperatorSeed()
    },
  },
  'nats config': {
    usage: '--dir <directory>',
    summary: 'print the configuration for NATS servers that belongs to NATS_OPERATOR_SEED',
    runOffline(env, args) {
      const operator = readNatsOperator(env)
      if (operator === null) throw new ConfigError('NATS_OPERATOR_SEED is not set')
      return buildServerConfiguration(operator, parseOptions(args, { required: ['dir'] }).text('dir')!)
    },
  },
}
