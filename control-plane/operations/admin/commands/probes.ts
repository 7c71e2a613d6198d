import { undrainProbe } from '../../../monitoring/fleet/probes/drain-actions.ts'
import { createProbeToken, revokeProbe, revokeProbeToken } from '../../../monitoring/fleet/probes/enrolment-actions.ts'
import { type ListedProbe, listProbes } from '../../../monitoring/fleet/probes/enrolment-store.ts'
import { type AdminCommand, assertNoArguments, formatTable, parseOnlyArgument, parseOptions } from '../command.ts'

/** Probes and their enrolment tokens. */
export const PROBE_COMMANDS: Record<string, AdminCommand> = {
  'probe-token create': {
    usage: '--region <region> [--reusable]',
    summary: 'print an enrolment token for one probe of that region; it is valid for 7 days',
    details: ['--reusable  the token enrols any number of probes, for example in a fleet with autoscaling'],
    async run({ db }, args) {
      const { text, has } = parseOptions(args, { required: ['region'], flags: ['reusable'] })
      return createProbeToken(db, text('region')!, { isReusable: has('reusable') })
    },
  },
  'probe-token revoke': {
    usage: '<token>',
    summary: 'revoke a token and every probe that enrolled with it, within 5 seconds',
    async run({ db }, args) {
      await revokeProbeToken(db, parseOnlyArgument(args, 'a token'))
      return 'the token and every probe that enrolled with it are revoked'
    },
  },
  'probe list': {
    summary: 'print id, region, name and last heartbeat of every probe',
    async run({ db }, args) {
      assertNoArguments(args)
      return formatTable((await listProbes(db)).map(toTableRow))
    },
  },
  'probe revoke': {
    usage: '<id>',
    summary: 'revoke one probe within 5 seconds; it can enrol again with a new token',
    async run({ db }, args) {
      const id = parseOnlyArgument(args, 'the id of a probe')
      await revokeProbe(db, id)
      return `probe ${id} is revoked`
    },
  },
  'probe undrain': {
    usage: '<id>',
    summary: 'assign work again to a probe that was drained because its results often differed',
    async run({ db }, args) {
      const id = parseOnlyArgument(args, 'the id of a probe')
      await undrainProbe(db, id)
      return `probe ${id} is no longer drained`
    },
  },
}

const toTableRow = ({ id, region, name, lastSeenAt, isRevoked, isDrained }: ListedProbe) => [
  ...[id, region, name, lastSeenAt.toISOString()],
  ...(isRevoked ? ['revoked'] : []),
  ...(isDrained ? ['drained'] : []),
]
