import { createOperatorKey, createOperatorProject } from '../../../accounts/organizations/operator-project-actions.ts'
import { readPublicUrl } from '../../../config.ts'
import { type AdminCommand, assertNoArguments, formatJson, parseEmail, parseOptions } from '../command.ts'

/** The project that sees the fleet. */
export const OPERATOR_COMMANDS: Record<string, AdminCommand> = {
  'operator create': {
    usage: '--email <email>',
    summary: 'makes the project that sees the fleet and hears of its troubles',
    details: ['Prints it with its admin API key as JSON; again it names the project that is there.'],
    async run({ db, env }, args) {
      const email = parseEmail(parseOptions(args, { required: ['email'] }).text('email')!)
      return formatJson(await createOperatorProject(db, { email, publicUrl: readPublicUrl(env) }))
    },
  },
  'operator key': {
    summary: 'prints another admin API key of the operator project',
    async run({ db }, args) {
      assertNoArguments(args)
      return createOperatorKey(db)
    },
  },
}
