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

/** Accounts, users and API keys. */
export const ACCOUNT_COMMANDS: Record<string, AdminCommand> = {
  bootstrap: {
    usage: '--email <email> [--name <name>]',
    summary: 'create an account and print it with its admin API key as JSON',
    async run({ db, env }, args) {
      const { text } = parseOptions(args, { required: ['email'], optional: ['name'] })
      const email = parseEmail(text('email')!)
      const account = { email, name: parseOptionalName(text('name')), publicUrl: readPublicUrl(env), provesEmail: true }
      return formatJson(await db.transaction(tx => createAccount(tx, { ...account, plan: readDefaultPlan(env) })))
    },
  },
  'api-key create': {
    usage: '--organization <id> [--name <name>]',
    summary: 'print a new admin API key, for an organization that is locked out',
    async run({ db }, args) {
      const { text } = parseOptions(args, { required: ['organization'], optional: ['name'] })
      return createKeyFor(db, text('organization')!, parseOptionalName(text('name')) ?? 'Made by the operator')
    },
  },
  'user list': {
    usage: '[--organization <id>]',
    summary: 'print id, email, claimed or not, and organizations with roles of every user',
    async run({ db }, args) {
      const organizationId = parseOptions(args, { optional: ['organization'] }).text('organization') ?? null
      if (organizationId !== null) await getOrganization(db, organizationId)
      const users = await listUsers(db, organizationId)
      return formatTable(users.map(user => [user.id, user.email, user.isClaimed ? 'claimed' : 'unclaimed', user.roles]))
    },
  },
  'user claim-link': {
    usage: '<email>',
    summary: 'print a link with which that user sets a new password; it works once, for 72 hours',
    details: ['For users who do not receive email. Earlier links stop working.'],
    async run({ db, env }, args) {
      return createClaimLink(db, parseEmail(parseOnlyArgument(args, 'the email address of a user')), readPublicUrl(env))
    },
  },
  'user remove': {
    usage: '<email> --organization <id>',
    summary: 'end a membership, also that of a founder with an unconfirmed address',
    details: [
      'The API refuses to remove such a founder, because an account can be created for any address.',
      'API keys are not deleted.',
    ],
    async run({ db }, args) {
      const [email, rest] = parseFirstArgument(args, 'the email address of a user')
      const organizationId = parseOptions(rest, { required: ['organization'] }).text('organization')!
      return `${await removeUser(db, organizationId, parseEmail(email))} is no longer a member`
    },
  },
}

const parseOptionalName = (name: string | undefined) => (name === undefined ? null : parseName(name))
