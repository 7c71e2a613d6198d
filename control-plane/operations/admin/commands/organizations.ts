import {
  describeOrganization,
  getOrganizationPlan,
  renameOrganization,
} from '../../../accounts/organizations/actions.ts'
import { deleteOrganization } from '../../../accounts/organizations/deletion/actions.ts'
import { listOrganizations } from '../../../accounts/organizations/store.ts'
import { changePlan } from '../../../accounts/plans/actions.ts'
import { readLimitSettings } from '../../../accounts/plans/limit-settings.ts'
import { PLANS } from '../../../accounts/plans/plans.ts'
import {
  type AdminCommand,
  assertNoArguments,
  escapeUnprintable,
  formatJson,
  formatTable,
  parseFirstArgument,
  parseName,
  parseOnlyArgument,
  parseOptions,
  UsageError,
} from '../command.ts'

const ORGANIZATION = 'the id of an organization'

/** Whose projects there are, and what they may have. */
export const ORGANIZATION_COMMANDS: Record<string, AdminCommand> = {
  'organization list': {
    summary: 'prints id, plan, monitors, members, day of creation and name of every organization',
    async run({ db }, args) {
      assertNoArguments(args)
      const row = (one: Awaited<ReturnType<typeof listOrganizations>>[number]) => [
        ...[one.id, one.plan, one.monitors, one.members, one.createdAt.toISOString().slice(0, 10), one.name],
      ]
      return formatTable((await listOrganizations(db)).map(row))
    },
  },
  'organization show': {
    usage: '<id>',
    summary: 'prints plan, use of its limits, projects, members and keys, as JSON',
    async run({ db, env }, args) {
      const id = parseOnlyArgument(args, ORGANIZATION)
      return formatJson(await describeOrganization(db, id, readLimitSettings(env)), 2)
    },
  },
  'organization rename': {
    usage: '<id> --name <name>',
    summary: 'gives an organization another name',
    async run({ db }, args) {
      const [id, rest] = parseFirstArgument(args, ORGANIZATION)
      const name = parseName(parseOptions(rest, { required: ['name'] }).text('name')!)
      await renameOrganization(db, id, name)
      return `organization ${id} is called ${name} now`
    },
  },
  'organization delete': {
    usage: '<id> --yes',
    summary: 'deletes an organization with everything in it; without --yes it says what that is',
    details: [
      'Its API keys stop working within 5 seconds, probes stop checking its monitors, and the provider of its chats is',
      'told that the app has left them.',
      'Members who are in no other organization are deleted too. Check history and screenshots, which nobody can read',
      'any more, go when they are old enough; what is in the audit log stays for its year. It ends when all of it is',
      'gone; if it is interrupted, the role schedule goes on, or the same command again.',
    ],
    async run({ db }, args) {
      const [id, rest] = parseFirstArgument(args, ORGANIZATION)
      const isSure = parseOptions(rest, { flags: ['yes'] }).has('yes')
      const { name, monitors, statusPages, members } = await deleteOrganization(db, id, isSure)
      const what = `${escapeUnprintable(name)} (${monitors} monitors, ${statusPages} status pages, ${members} members)`
      if (!isSure) throw new UsageError(`this would delete ${what}; say --yes to do it`)
      return `deleted: ${what}`
    },
  },
  'plan show': {
    usage: '<organization>',
    summary: 'prints the plan of an organization',
    async run({ db }, args) {
      return getOrganizationPlan(db, parseOnlyArgument(args, ORGANIZATION))
    },
  },
  'plan set': {
    usage: '<organization> <plan>',
    summary: `changes a plan: ${PLANS.join(', ')}`,
    async run({ db }, [organizationId, plan, ...rest]) {
      if (!organizationId || !plan || rest.length > 0) throw new UsageError(`give ${ORGANIZATION} and a plan`)
      await changePlan(db, organizationId, plan)
      return `organization ${organizationId} has plan ${plan} now`
    },
  },
}
