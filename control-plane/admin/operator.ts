import { createOperatorKey, createOperatorProject } from '../accounts/operator/actions.ts'
import { publicUrl } from '../config.ts'
import { type Command, emailOf, json, none, options } from './command.ts'

/** The project that sees the fleet. */
export const OPERATOR_COMMANDS: Record<string, Command> = {
  'operator create': {
    takes: '--email <email>',
    does: 'makes the project that sees the fleet and hears of its troubles',
    more: ['Prints it with its admin API key as JSON; again it names the project that is there.'],
    async run({ db, env }, args) {
      const email = emailOf(options(args, { required: ['email'] }).text('email')!)
      return json(await createOperatorProject(db, { email, publicUrl: publicUrl(env) }))
    },
  },
  'operator key': {
    does: 'prints another admin API key of the operator project',
    async run({ db }, args) {
      none(args)
      return createOperatorKey(db)
    },
  },
}
