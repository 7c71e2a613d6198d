import t from 'tap'
import type { ProbeState } from '../../../../control-plane/monitoring/fleet/live-sets/live-set.ts'
import {
  createRegionAbsenceState,
  detectAbsentRegions,
  findUnrecorded,
} from '../../../../control-plane/monitoring/fleet/live-sets/region-absence.ts'
import { FLEET_TIMING } from '../../../../control-plane/monitoring/fleet/timing.ts'

/** The state of a region's only probe, by seconds after the beginning. */
type Seen = { silentS?: number; natsAwayS?: number; isDraining?: boolean; isRevoked?: boolean }
type Timeline = (second: number) => Seen | null

const probe = (region: string, { silentS = 1, natsAwayS = 0, ...rest }: Seen): ProbeState => ({
  id: region,
  region,
  silentMs: silentS * 1_000,
  steadyMs: 600_000,
  isConnected: true,
  isNew: false,
  isDraining: false,
  isRevoked: false,
  isDrained: false,
  capabilities: ['http'],
  natsAwayMs: natsAwayS * 1_000,
  offlineMs: 0,
  ...rest,
})

const REGIONS = ['eu-west', 'us-east']
const working: Timeline = () => ({})
const silentSince = (s: number): Timeline => {
  return second => ({ silentS: Math.max(1, second - s) })
}
const cannotPublishSince = (s: number): Timeline => {
  return second => ({ natsAwayS: Math.max(0, second - s) })
}

/** The seconds in which eu-west was first reported absent and present again, with a check each second from `from` on. */
function observe(eu: Timeline, us: Timeline, from = 0, pause: [number, number] = [0, 0]): string {
  const state = createRegionAbsenceState()
  const reported: string[] = []
  for (let second = from; second <= 120; second++) {
    if (second > pause[0] && second < pause[1]) continue
    const seen = { 'eu-west': eu(second), 'us-east': us(second) }
    const probes = Object.entries(seen).flatMap(([region, one]) => (one ? [probe(region, one)] : []))
    const { absent, present } = detectAbsentRegions(state, REGIONS, probes, FLEET_TIMING, second * 1_000)
    const now = absent.includes('eu-west') ? 'absent' : present.includes('eu-west') ? 'present' : null
    if (now !== null && !reported.at(-1)?.startsWith(now)) reported.push(`${now}@${second}`)
  }
  return reported.join(' ')
}

const rows: [title: string, reported: string, expected: string][] = [
  ['a region whose probes send heartbeats and publish is present', observe(working, working), 'present@0'],
  [
    '16 s after the last heartbeat of its only probe a region is absent',
    observe(silentSince(20), working),
    'present@0 absent@36',
  ],
  [
    '15 s after the results of its only probe arrived last',
    observe(cannotPublishSince(20), working),
    'present@0 absent@35',
  ],
  [
    'a probe that sends heartbeats again makes it present immediately',
    observe(s => (s < 60 ? { silentS: s } : {}), working),
    'present@0 absent@16 present@60',
  ],
  [
    'a probe that is replaced within 15 s has no effect',
    observe(s => ({ silentS: s > 20 && s < 35 ? s - 20 : 1 }), working),
    'present@0',
  ],
  ['a region without any probe is absent after 8 s of observation', observe(() => null, working), 'absent@8'],
  ['a revoked probe does not count', observe(() => ({ isRevoked: true }), working), 'absent@8'],
  ['a draining probe counts until it is silent', observe(() => ({ isDraining: true }), working), 'present@0'],
  [
    'no region is absent while the probes of all of them are silent',
    observe(silentSince(20), silentSince(20)),
    'present@0',
  ],
  [
    'no region is absent while no probe can publish',
    observe(cannotPublishSince(20), cannotPublishSince(20)),
    'present@0',
  ],
  [
    'when the first region sends heartbeats again, the others are absent 8 s later',
    observe(silentSince(0), s => ({ silentS: s < 60 ? s : 1 })),
    'present@0 absent@68',
  ],
  ['a process that has just started observes for 8 s', observe(silentSince(-600), working, 50), 'absent@58'],
  [
    'a process that could not observe starts again',
    observe(silentSince(10), working, 0, [18, 40]),
    'present@0 absent@48',
  ],
]

t.test('Regions without a probe that can publish are detected', async t => {
  for (const [title, reported, expected] of rows) t.equal(reported, expected, title)
})

t.test('Only what differs from the stored rows is recorded', async t => {
  const stored = [
    { region: 'eu-west', isAbsent: true },
    { region: 'us-east', isAbsent: false },
  ]
  const unrecorded = (absent: string[], present: string[]) => findUnrecorded({ absent, present }, stored)
  const nothing = { absent: [], present: [] }
  t.same(unrecorded(['eu-west'], ['us-east']), nothing)
  t.same(unrecorded([], []), nothing, 'a region in neither list does not change')
  t.same(unrecorded(['us-east'], ['eu-west']), { absent: ['us-east'], present: ['eu-west'] })
  t.same(unrecorded(['ap-southeast'], ['sa-east']), nothing, 'regions without a row')
})
