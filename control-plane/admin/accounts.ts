import { createAccount } from '../accounts/bootstrap/actions.ts'
import { createKeyFor, existingOrganization } from '../accounts/organizations/actions.ts'
import { listUsers } from '../accounts/organizations/store.ts'
import { newClaimLink, removeUser } from '../accounts/organizations/user-actions.ts'
import { defaultPlan, publicUrl } from '../config.ts'
import { type Command, emailOf, first, json, nameOf, only, options, table } from './command.ts'

/** Who may come in. */
export const ACCOUNT_COMMANDS: Record<string, Command> = {
  bootstrap: {
    takes: '--email <email> [--name <name>]',
    does: 'creates an account, prints it with its admin API key as JSON',
    async run({ db, env }, args) {
      const { text } = options(args, { required: ['email'], optional: ['name'] })
      const email = emailOf(text('email')!)
      const account = { email, name: named(text('name')), publicUrl: publicUrl(env), provesEmail: true }
      return json(await db.transaction(tx => createAccount(tx, { ...account, plan: defaultPlan(env) })))
    },
  },
  'api-key create': {
    takes: '--organization <id> [--name <name>]',
    does: 'prints a new admin API key, for an organization that is locked out',
    async run({ db }, args) {
      const { text } = options(args, { required: ['organization'], optional: ['name'] })
      return createKeyFor(db, text('organization')!, named(text('name')) ?? 'Made by the operator')
    },
  },
  'user list': {
    takes: '[--organization <id>]',
    does: 'prints id, e-mail, claimed or not, and organizations with roles of every user',
    async run({ db }, args) {
      const organizationId = options(args, { optional: ['organization'] }).text('organization') ?? null
      if (organizationId !== null) await existingOrganization(db, organizationId)
      const users = await listUsers(db, organizationId)
      return table(users.map(user => [user.id, user.email, user.isClaimed ? 'claimed' : 'unclaimed', user.roles]))
    },
  },
  'user claim-link': {
    takes: '<email>',
    does: 'prints a link by which that user sets a new password, good for 72 hours, once',
    more: ['For when mail does not arrive. Links made before it stop working.'],
    async run({ db, env }, args) {
      return newClaimLink(db, emailOf(only(args, 'the e-mail address of a user')), publicUrl(env))
    },
  },
  'user remove': {
    takes: '<email> --organization <id>',
    does: 'ends a membership, also of a founder whose address is not proven',
    more: ['The API refuses that, because anybody can make an account for an address of others. API keys stay.'],
    async run({ db }, args) {
      const [email, rest] = first(args, 'the e-mail address of a user')
      const organizationId = options(rest, { required: ['organization'] }).text('organization')!
      return `${await removeUser(db, organizationId, emailOf(email))} is not a member any more`
    },
  },
}

const named = (name: string | undefined) => (name === undefined ? null : nameOf(name))
