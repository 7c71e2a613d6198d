import { undrainProbe } from '../fleet/drain-actions.ts'
import { createProbeToken, revokeProbe, revokeProbeToken } from '../fleet/enrolment-actions.ts'
import { type ListedProbe, listProbes } from '../fleet/enrolment-store.ts'
import { type Command, none, only, options, table } from './command.ts'

/** Who may join the fleet, and who is in it. */
export const PROBE_COMMANDS: Record<string, Command> = {
  'probe-token create': {
    takes: '--region <region> [--reusable]',
    does: 'prints an enrolment token for one probe of that region, good for 7 days',
    more: ['--reusable  for any number of probes, as a fleet that scales by itself needs'],
    async run({ db }, args) {
      const { text, has } = options(args, { required: ['region'], flags: ['reusable'] })
      return createProbeToken(db, text('region')!, { isReusable: has('reusable') })
    },
  },
  'probe-token revoke': {
    takes: '<token>',
    does: 'shuts out every probe that a token let in, within 5 seconds',
    async run({ db }, args) {
      await revokeProbeToken(db, only(args, 'a token'))
      return 'the token is revoked, and every probe that it let in'
    },
  },
  'probe list': {
    does: 'prints id, region, name and last sign of life of every probe',
    async run({ db }, args) {
      none(args)
      return table((await listProbes(db)).map(rowOf))
    },
  },
  'probe revoke': {
    takes: '<id>',
    does: 'shuts out one probe within 5 seconds; a new token lets it in anew',
    async run({ db }, args) {
      const id = only(args, 'the id of a probe')
      await revokeProbe(db, id)
      return `probe ${id} is revoked`
    },
  },
  'probe undrain': {
    takes: '<id>',
    does: 'gives work again to a probe that was drained for disagreeing often',
    async run({ db }, args) {
      const id = only(args, 'the id of a probe')
      await undrainProbe(db, id)
      return `probe ${id} gets work again`
    },
  },
}

const rowOf = ({ id, region, name, lastSeenAt, isRevoked, isDrained }: ListedProbe) => [
  ...[id, region, name, lastSeenAt.toISOString()],
  ...(isRevoked ? ['revoked'] : []),
  ...(isDrained ? ['drained'] : []),
]
