import type { ChaosScale } from './plan.ts'

/** The limit of each wait at the end of a run. Only a hang can reach it. */
export const TIMEOUT_MS = 300_000

/** The run of `npm run chaos`: two processes of each role, and two probes in each of two regions. */
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
  maxMs: 30_000,
  isShort: false,
  previous: null,
  only: null,
}

/** The run of `npm test`: 30 seconds of faults. */
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
  maxMs: 5_000,
  isShort: true,
  previous: null,
  only: null,
}
