import type { ChaosScale } from './plan.ts'

/** Of a wait while a run settles: one that only a hang can reach. */
export const LIMIT_MS = 300_000

/** Two of each role, two probes in each of two regions: `npm run chaos`. */
export const LONG: Omit<ChaosScale, 'hasDisks'> = {
  minutes: 20,
  faults: 120,
  regions: ['us-east', 'eu-west'],
  controlPlanes: {
    'front-1': 'api,fleet,schedule',
    'front-2': 'api,fleet,schedule',
    'verdict-1': 'verdict,record',
    'verdict-2': 'verdict,record',
    'deliver-1': 'deliver',
    'deliver-2': 'deliver',
  },
  monitors: 30,
  longestMs: 30_000,
  isShort: false,
  previous: null,
  only: null,
}

/** Half a minute of faults: in `npm test`. */
export const SHORT: Omit<ChaosScale, 'hasDisks'> = {
  minutes: 0.5,
  faults: 10,
  regions: ['us-east'],
  controlPlanes: {
    front: 'api,fleet,schedule',
    'verdict-1': 'verdict,record,deliver',
    'verdict-2': 'verdict,record,deliver',
  },
  monitors: 6,
  longestMs: 5_000,
  isShort: true,
  previous: null,
  only: null,
}
