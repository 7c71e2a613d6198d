import t from 'tap'
import type { ProbeState } from '../../../../control-plane/monitoring/fleet/live-sets/live-set.ts'
import {
  createRegionAbsenceState,
  detectAbsentRegions,
} from '../../../../control-plane/monitoring/fleet/live-sets/region-absence.ts'
import { FLEET_TIMING } from '../../../../control-plane/monitoring/fleet/timing.ts'

/** What is known of a region's only probe, so many seconds after the beginning. */
type Seen = { silentS?: number; natsAwayS?: number; isDraining?: boolean; isRevoked?: boolean }
type Course = (second: number) => Seen | null

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
const well: Course = () => ({})
const silentSince = (s: number): Course => {
  return second => ({ silentS: Math.max(1, second - s) })
}
const cutSince = (s: number): Course => {
  return second => ({ natsAwayS: Math.max(0, second - s) })
}

/** The seconds in which eu-west was first reported absent and present again, with a check each second from `from` on. */
function look(eu: Course, us: Course, from = 0, pause: [number, number] = [0, 0]): string {
  const watch = createRegionAbsenceState()
  const reported: string[] = []
  for (let second = from; second <= 120; second++) {
    if (second > pause[0] && second < pause[1]) continue
    const seen = { 'eu-west': eu(second), 'us-east': us(second) }
    const probes = Object.entries(seen).flatMap(([region, one]) => (one ? [probe(region, one)] : []))
    const { absent, present } = detectAbsentRegions(watch, REGIONS, probes, FLEET_TIMING, second * 1_000)
    const now = absent.includes('eu-west') ? 'absent' : present.includes('eu-west') ? 'present' : null
    if (now !== null && !reported.at(-1)?.startsWith(now)) reported.push(`${now}@${second}`)
  }
  return reported.join(' ')
}

const rows: [title: string, reported: string, expected: string][] = [
  ['a region whose probes send heartbeats and publish is present', look(well, well), 'present@0'],
  [
    '16 s after the last heartbeat of its only probe a region is absent',
    look(silentSince(20), well),
    'present@0 absent@36',
  ],
  ['15 s after the results of its only probe arrived last', look(cutSince(20), well), 'present@0 absent@35'],
  [
    'a probe that sends heartbeats again makes it present at once',
    look(s => (s < 60 ? { silentS: s } : {}), well),
    'present@0 absent@16 present@60',
  ],
  [
    'a probe that is replaced within 15 s costs nothing',
    look(s => ({ silentS: s > 20 && s < 35 ? s - 20 : 1 }), well),
    'present@0',
  ],
  ['a region without any probe is absent once that was seen for 8 s', look(() => null, well), 'absent@8'],
  ['a revoked probe is none', look(() => ({ isRevoked: true }), well), 'absent@8'],
  ['a probe that stops is one until it is silent', look(() => ({ isDraining: true }), well), 'present@0'],
  [
    'no region is absent while the probes of all of them are silent',
    look(silentSince(20), silentSince(20)),
    'present@0',
  ],
  ['nor while none of them can publish', look(cutSince(20), cutSince(20)), 'present@0'],
  [
    'when the first region sends heartbeats again the others have 8 s',
    look(silentSince(0), s => ({ silentS: s < 60 ? s : 1 })),
    'present@0 absent@68',
  ],
  ['a process that has just started waits as long', look(silentSince(-600), well, 50), 'absent@58'],
  ['so does one that could not look for a while', look(silentSince(10), well, 0, [18, 40]), 'present@0 absent@48'],
]

t.test('which regions have no probe that can publish', async t => {
  for (const [title, reported, expected] of rows) t.equal(reported, expected, title)
})
