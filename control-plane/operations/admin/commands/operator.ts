import { createOperatorKey, createOperatorProject } from '../../../accounts/organizations/operator-project-actions.ts'
import { readPublicUrl } from '../../../config.ts'
import { type AdminCommand, assertNoArguments, formatJson, parseEmail, parseOptions } from '../command.ts'

/** The operator project, which can read the fleet. */
export const OPERATOR_COMMANDS: Record<string, AdminCommand> = {
  'operator create': {
    usage: '--email <email>',
    summary: 'create the operator project, which can read the fleet and receives its incidents',
    details: ['Prints it with its admin API key as JSON. If it exists already, prints the existing project.'],
    async run({ db, env }, args) {
      const email = parseEmail(parseOptions(args, { required: ['email'] }).text('email')!)
      return formatJson(await createOperatorProject(db, { email, publicUrl: readPublicUrl(env) }))
    },
  },
  'operator key': {
    summary: 'print another admin API key of the operator project',
    async run({ db }, args) {
      assertNoArguments(args)
      return createOperatorKey(db)
    },
  },
}
