import { createKeyFor, getOrganization } from '../../../accounts/organizations/actions.ts'
import { listUsers } from '../../../accounts/organizations/store.ts'
import { createClaimLink, removeUser } from '../../../accounts/organizations/user-actions.ts'
import { createAccount } from '../../../accounts/registration/actions.ts'
import { readDefaultPlan, readPublicUrl } from '../../../config.ts'
import {
  type AdminCommand,
  formatJson,
  formatTable,
  parseEmail,
  parseFirstArgument,
  parseName,
  parseOnlyArgument,
  parseOptions,
} from '../command.ts'

/** Who may come in. */
export const ACCOUNT_COMMANDS: Record<string, AdminCommand> = {
  bootstrap: {
    usage: '--email <email> [--name <name>]',
    summary: 'creates an account, prints it with its admin API key as JSON',
    async run({ db, env }, args) {
      const { text } = parseOptions(args, { required: ['email'], optional: ['name'] })
      const email = parseEmail(text('email')!)
      const account = { email, name: parseOptionalName(text('name')), publicUrl: readPublicUrl(env), provesEmail: true }
      return formatJson(await db.transaction(tx => createAccount(tx, { ...account, plan: readDefaultPlan(env) })))
    },
  },
  'api-key create': {
    usage: '--organization <id> [--name <name>]',
    summary: 'prints a new admin API key, for an organization that is locked out',
    async run({ db }, args) {
      const { text } = parseOptions(args, { required: ['organization'], optional: ['name'] })
      return createKeyFor(db, text('organization')!, parseOptionalName(text('name')) ?? 'Made by the operator')
    },
  },
  'user list': {
    usage: '[--organization <id>]',
    summary: 'prints id, e-mail, claimed or not, and organizations with roles of every user',
    async run({ db }, args) {
      const organizationId = parseOptions(args, { optional: ['organization'] }).text('organization') ?? null
      if (organizationId !== null) await getOrganization(db, organizationId)
      const users = await listUsers(db, organizationId)
      return formatTable(users.map(user => [user.id, user.email, user.isClaimed ? 'claimed' : 'unclaimed', user.roles]))
    },
  },
  'user claim-link': {
    usage: '<email>',
    summary: 'prints a link by which that user sets a new password, good for 72 hours, once',
    details: ['For when mail does not arrive. Links made before it stop working.'],
    async run({ db, env }, args) {
      return createClaimLink(
        db,
        parseEmail(parseOnlyArgument(args, 'the e-mail address of a user')),
        readPublicUrl(env),
      )
    },
  },
  'user remove': {
    usage: '<email> --organization <id>',
    summary: 'ends a membership, also of a founder whose address is not proven',
    details: ['The API refuses that, because anybody can make an account for an address of others. API keys stay.'],
    async run({ db }, args) {
      const [email, rest] = parseFirstArgument(args, 'the e-mail address of a user')
      const organizationId = parseOptions(rest, { required: ['organization'] }).text('organization')!
      return `${await removeUser(db, organizationId, parseEmail(email))} is not a member any more`
    },
  },
}

const parseOptionalName = (name: string | undefined) => (name === undefined ? null : parseName(name))
