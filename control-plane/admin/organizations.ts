import { changePlan } from '../accounts/actions.ts'
import { limitSettings } from '../accounts/limit-settings.ts'
import { describeOrganization, planOf, renameOrganization } from '../accounts/organizations/actions.ts'
import { deleteOrganization } from '../accounts/organizations/deletion-actions.ts'
import { listOrganizations } from '../accounts/organizations/store.ts'
import { PLANS } from '../accounts/plans.ts'
import { type Command, first, json, nameOf, none, only, options, shown, table, UsageError } from './command.ts'

const ORGANIZATION = 'the id of an organization'

/** Whose projects there are, and what they may have. */
export const ORGANIZATION_COMMANDS: Record<string, Command> = {
  'organization list': {
    does: 'prints id, plan, monitors, members, day of creation and name of every organization',
    async run({ db }, args) {
      none(args)
      const row = (one: Awaited<ReturnType<typeof listOrganizations>>[number]) => [
        ...[one.id, one.plan, one.monitors, one.members, one.createdAt.toISOString().slice(0, 10), one.name],
      ]
      return table((await listOrganizations(db)).map(row))
    },
  },
  'organization show': {
    takes: '<id>',
    does: 'prints plan, use of its limits, projects, members and keys, as JSON',
    async run({ db, env }, args) {
      const id = only(args, ORGANIZATION)
      return json(await describeOrganization(db, id, limitSettings(env)), 2)
    },
  },
  'organization rename': {
    takes: '<id> --name <name>',
    does: 'gives an organization another name',
    async run({ db }, args) {
      const [id, rest] = first(args, ORGANIZATION)
      const name = nameOf(options(rest, { required: ['name'] }).text('name')!)
      await renameOrganization(db, id, name)
      return `organization ${id} is called ${name} now`
    },
  },
  'organization delete': {
    takes: '<id> --yes',
    does: 'deletes an organization with everything in it; without --yes it says what that is',
    more: [
      'Its API keys stop working within 5 seconds, probes stop checking its monitors, and the provider of its chats is',
      'told that the app has left them.',
      'Members who are in no other organization are deleted too. Check history and screenshots, which nobody can read',
      'any more, go when they are old enough; what is in the audit log stays for its year. It ends when all of it is',
      'gone; if it is interrupted, the role schedule goes on, or the same command again.',
    ],
    async run({ db }, args) {
      const [id, rest] = first(args, ORGANIZATION)
      const isSure = options(rest, { flags: ['yes'] }).has('yes')
      const { name, monitors, statusPages, members } = await deleteOrganization(db, id, isSure)
      const what = `${shown(name)} (${monitors} monitors, ${statusPages} status pages, ${members} members)`
      if (!isSure) throw new UsageError(`this would delete ${what}; say --yes to do it`)
      return `deleted: ${what}`
    },
  },
  'plan show': {
    takes: '<organization>',
    does: 'prints the plan of an organization',
    async run({ db }, args) {
      return planOf(db, only(args, ORGANIZATION))
    },
  },
  'plan set': {
    takes: '<organization> <plan>',
    does: `changes a plan: ${PLANS.join(', ')}`,
    async run({ db }, [organizationId, plan, ...rest]) {
      if (!organizationId || !plan || rest.length > 0) throw new UsageError(`give ${ORGANIZATION} and a plan`)
      await changePlan(db, organizationId, plan)
      return `organization ${organizationId} has plan ${plan} now`
    },
  },
}
