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
import { pluralize } from '../../../alerting/channels/notices/wording.ts'
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

/** Organizations and their plans. */
export const ORGANIZATION_COMMANDS: Record<string, AdminCommand> = {
  'organization list': {
    summary: 'print id, plan, monitors, members, day of creation and name of every organization',
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
    summary: 'print plan, use of its limits, projects, members and keys of an organization as JSON',
    async run({ db, env }, args) {
      const id = parseOnlyArgument(args, ORGANIZATION)
      return formatJson(await describeOrganization(db, id, readLimitSettings(env)), 2)
    },
  },
  'organization rename': {
    usage: '<id> --name <name>',
    summary: 'rename an organization',
    async run({ db }, args) {
      const [id, rest] = parseFirstArgument(args, ORGANIZATION)
      const name = parseName(parseOptions(rest, { required: ['name'] }).text('name')!)
      await renameOrganization(db, id, name)
      return `organization ${id} is now named ${name}`
    },
  },
  'organization delete': {
    usage: '<id> --yes',
    summary: 'delete an organization with everything in it; without --yes, only print what would be deleted',
    details: [
      'Its API keys stop working within 5 seconds, probes stop checking its monitors, and the provider of its chats is',
      'notified that the app was removed.',
      'Members without another organization are deleted as well. Check history and screenshots can no longer be read and',
      'are deleted at their usual age; the audit log is kept for a year. The command ends when everything is deleted. If it',
      'is interrupted, the role schedule continues, or run the command again.',
    ],
    async run({ db }, args) {
      const [id, rest] = parseFirstArgument(args, ORGANIZATION)
      const isSure = parseOptions(rest, { flags: ['yes'] }).has('yes')
      const { name, monitors, statusPages, members } = await deleteOrganization(db, id, isSure)
      const counts = [
        formatCount(monitors, 'monitor'),
        formatCount(statusPages, 'status page'),
        formatCount(members, 'member'),
      ]
      const what = `${escapeUnprintable(name)} (${counts.join(', ')})`
      if (!isSure) throw new UsageError(`this would delete ${what}; add --yes to delete it`)
      return `deleted: ${what}`
    },
  },
  'plan show': {
    usage: '<organization>',
    summary: 'print the plan of an organization',
    async run({ db }, args) {
      return getOrganizationPlan(db, parseOnlyArgument(args, ORGANIZATION))
    },
  },
  'plan set': {
    usage: '<organization> <plan>',
    summary: `change the plan of an organization: ${PLANS.join(', ')}`,
    async run({ db }, [organizationId, plan, ...rest]) {
      if (!organizationId || !plan || rest.length > 0)
        throw new UsageError(`expected two arguments: ${ORGANIZATION} and a plan`)
      await changePlan(db, organizationId, plan)
      return `organization ${organizationId} now has plan ${plan}`
    },
  },
}

const formatCount = (count: number, noun: string) => `${count} ${pluralize(count, noun)}`
