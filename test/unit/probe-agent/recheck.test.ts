import t from 'tap'
import { decideNextAttempt } from '../../../probe-agent/schedule/rechecks/recheck.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { Outcome } from '../../../proto/gen/probe/v1/result.ts'

const OUTCOMES = { u: Outcome.UP, d: Outcome.DOWN, g: Outcome.DEGRADED, '?': Outcome.UNKNOWN } as const
const { PENDING, OK, DEGRADED, FAILING } = RegionState

/** region before, retry_count, attempts so far (u up, d down, g degraded, ? unknown), re-check in s or end, region after */
type Row = [RegionState, number, string, number | 'end', RegionState, string]

const ROWS: Row[] = [
  [OK, 2, 'u', 'end', OK, 'a healthy monitor is checked once a slot'],
  [PENDING, 2, 'u', 'end', OK, 'the first result of a new monitor'],
  [OK, 5, 'd', 1, OK, 'the first failure is re-checked after 1 s'],
  [OK, 5, 'dd', 3, OK, 'then after 3 s'],
  [OK, 5, 'ddd', 5, OK, 'then after 5 s'],
  [OK, 5, 'dddd', 5, OK, 'again after 5 s'],
  [OK, 5, 'ddddd', 5, OK, 'again after 5 s'],
  [OK, 5, 'dddddd', 'end', FAILING, 'retry_count 5: the sixth failure decides'],
  [OK, 2, 'ddd', 'end', FAILING, 'retry_count 2: the third failure decides'],
  [OK, 0, 'd', 'end', FAILING, 'retry_count 0: the first failure decides, nothing is re-checked'],
  [PENDING, 1, 'dd', 'end', FAILING, 'a monitor that never worked'],
  [OK, 5, 'ddu', 'end', OK, 'a success ends the chain'],
  [OK, 2, 'g', 1, OK, 'a degraded result is not up: it is re-checked like a failure'],
  [OK, 2, 'ggg', 'end', DEGRADED, 'degraded as many times in a row'],
  [OK, 2, 'dgd', 'end', DEGRADED, 'failures and degraded results mixed are not failures in a row'],
  [OK, 0, 'g', 'end', DEGRADED, 'retry_count 0: the first degraded result decides'],
  [FAILING, 2, 'd', 'end', FAILING, 'an outage costs one attempt a slot'],
  [FAILING, 2, 'u', 5, FAILING, 'the first success in an outage is re-checked after 5 s'],
  [FAILING, 2, 'uu', 'end', OK, 'two successes end the outage of the region'],
  [FAILING, 2, 'ud', 'end', FAILING, 'a success that does not last'],
  [FAILING, 0, 'u', 'end', OK, 'retry_count 0: one success is enough'],
  [FAILING, 5, 'ug', 'end', DEGRADED, 'better than failing twice, but not up'],
  [FAILING, 2, 'g', 5, FAILING, 'a degraded result in an outage is better too'],
  [DEGRADED, 2, 'g', 'end', DEGRADED, 'a slow target stays one attempt a slot'],
  [DEGRADED, 2, 'd', 1, DEGRADED, 'from degraded to failing is confirmed'],
  [DEGRADED, 2, 'ddd', 'end', FAILING, 'from degraded to failing'],
  [DEGRADED, 2, 'uu', 'end', OK, 'from degraded to up'],
  [DEGRADED, 2, 'udu', 'end', DEGRADED, 'a target that answers differently each time keeps no chain alive'],
  [DEGRADED, 1, 'ud', 'end', DEGRADED, 'nor with retry_count 1'],
  [OK, 2, '?', 1, OK, 'our own fault is tried again once'],
  [OK, 2, '??', 'end', OK, 'and not a second time'],
  [OK, 0, '?', 'end', OK, 'retry_count 0: not even once'],
  [OK, 2, '?u', 'end', OK, 'our own fault passed'],
  [OK, 2, 'd?', 3, OK, 'our own fault in a chain does not break it'],
  [OK, 2, 'd?dd', 'end', FAILING, 'nor does it count towards it'],
  [OK, 2, 'd?d', 5, OK, 'the missing failure is asked for'],
  [OK, 5, 'd?d?', 'end', OK, 'the second one ends the chain: the next slot goes on'],
  [FAILING, 2, 'u?', 3, FAILING, 'our own fault while a recovery is confirmed'],
]

for (const [state, retryCount, attempts, recheck, after, title] of ROWS) {
  t.test(title, async t => {
    const outcomes = [...attempts].map(letter => OUTCOMES[letter as keyof typeof OUTCOMES])
    const recheckInMs = recheck === 'end' ? null : recheck * 1000
    t.same(decideNextAttempt(state, retryCount, outcomes), { recheckInMs, state: after })
  })
}

t.test(
  'No sequence of outcomes makes a chain longer than retry_count re-checks and one for an internal failure',
  async t => {
    const letters = Object.values(OUTCOMES)
    for (const state of [PENDING, OK, DEGRADED, FAILING]) {
      for (const retryCount of [0, 1, 2]) {
        let open: Outcome[][] = [[]]
        for (let length = 1; open.length > 0; length++) {
          t.ok(length <= Math.max(retryCount + 2, 3), `${length} attempts with retry_count ${retryCount}`)
          open = open
            .flatMap(outcomes => letters.map(letter => [...outcomes, letter]))
            .filter(outcomes => decideNextAttempt(state, retryCount, outcomes).recheckInMs !== null)
        }
      }
    }
  },
)
