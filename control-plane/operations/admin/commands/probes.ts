import { undrainProbe } from '../../../monitoring/fleet/probes/drain-actions.ts'
import { createProbeToken, revokeProbe, revokeProbeToken } from '../../../monitoring/fleet/probes/enrolment-actions.ts'
import { type ListedProbe, listProbes } from '../../../monitoring/fleet/probes/enrolment-store.ts'
import { type AdminCommand, assertNoArguments, formatTable, parseOnlyArgument, parseOptions } from '../command.ts'

/** Who may join the fleet, and who is in it. */
export const PROBE_COMMANDS: Record<string, AdminCommand> = {
  'probe-token create': {
    usage: '--region <region> [--reusable]',
    summary: 'prints an enrolment token for one probe of that region, good for 7 days',
    details: ['--reusable  for any number of probes, as a fleet that scales by itself needs'],
    async run({ db }, args) {
      const { text, has } = parseOptions(args, { required: ['region'], flags: ['reusable'] })
      return createProbeToken(db, text('region')!, { isReusable: has('reusable') })
    },
  },
  'probe-token revoke': {
    usage: '<token>',
    summary: 'shuts out every probe that a token let in, within 5 seconds',
    async run({ db }, args) {
      await revokeProbeToken(db, parseOnlyArgument(args, 'a token'))
      return 'the token is revoked, and every probe that it let in'
    },
  },
  'probe list': {
    summary: 'prints id, region, name and last sign of life of every probe',
    async run({ db }, args) {
      assertNoArguments(args)
      return formatTable((await listProbes(db)).map(toTableRow))
    },
  },
  'probe revoke': {
    usage: '<id>',
    summary: 'shuts out one probe within 5 seconds; a new token lets it in anew',
    async run({ db }, args) {
      const id = parseOnlyArgument(args, 'the id of a probe')
      await revokeProbe(db, id)
      return `probe ${id} is revoked`
    },
  },
  'probe undrain': {
    usage: '<id>',
    summary: 'gives work again to a probe that was drained for disagreeing often',
    async run({ db }, args) {
      const id = parseOnlyArgument(args, 'the id of a probe')
      await undrainProbe(db, id)
      return `probe ${id} gets work again`
    },
  },
}

const toTableRow = ({ id, region, name, lastSeenAt, isRevoked, isDrained }: ListedProbe) => [
  ...[id, region, name, lastSeenAt.toISOString()],
  ...(isRevoked ? ['revoked'] : []),
  ...(isDrained ? ['drained'] : []),
]
