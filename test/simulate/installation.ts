import type { CheckSpec } from '../../shared/checks/check.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import type { Random } from '../chaos/random.ts'
import { createCheckSpec } from '../support/spec.ts'
import { newUuid } from './time.ts'

/** The time at which the simulation begins. */
export const BEGIN_MS = Date.UTC(2026, 7, 1)

/** The settings of a monitor. */
export type Settings = {
  regions: readonly string[]
  intervalS: number
  timeoutMs: number
  retryCount: number
  /** a probe of another region may check it as a witness */
  witness: boolean
}

export type SimulatedMonitor = {
  id: string
  index: number
  settings: Settings
  /** response time of the working target, in ms; up to `spreadMs` is added */
  quickMs: number
  spreadMs: number
}

export type SimulatedInstallation = {
  monitors: SimulatedMonitor[]
  listProbes: (region: string) => string[]
  regions: readonly string[]
  /** the intervals that monitors begin with, in turn, and that customers change them to */
  intervalsS: readonly number[]
}

/** Number of regions of the monitors, in turn. */
const REGION_COUNTS = [1, 1, 2, 2, 3, 3, 3, 6]
const TIMEOUTS_MS = [10_000, 5_000, 10_000, 30_000]
export const STANDARD_INTERVALS_S = [30]
/** Long intervals are rare, because few of the outages last long enough. */
export const MIXED_INTERVALS_S = [30, 30, 30, 60, 30, 30, 300, 30, 30, 3_600, 30]
const RETRIES = [2, 1, 2, 0, 2, 1]
/** One of this many targets needs half of its timeout to answer. */
const SLOW_ONE_IN = 12
/** One of this many monitors with one region does not permit witnesses. */
const WITHOUT_WITNESS_ONE_IN = 24
/** One of this many monitors has its target on the same host as the previous monitor. */
const SHARED_HOST_ONE_IN = 6

export function createInstallation(
  random: Random,
  monitors: number,
  probesPerRegion: number,
  intervalsS: readonly number[],
): SimulatedInstallation {
  return {
    regions: REGIONS,
    intervalsS,
    listProbes: region => Array.from({ length: probesPerRegion }, (_, i) => `${region}-${i + 1}`),
    monitors: Array.from({ length: monitors }, (_, index) => {
      const count = REGION_COUNTS[index % REGION_COUNTS.length]!
      const round = Math.floor(index / REGION_COUNTS.length)
      const settings = {
        regions: random.shuffled(REGIONS).slice(0, count),
        intervalS: intervalsS[index % intervalsS.length]!,
        timeoutMs: TIMEOUTS_MS[(index + round) % TIMEOUTS_MS.length]!,
        retryCount: RETRIES[(index + round) % RETRIES.length]!,
        witness: index % WITHOUT_WITNESS_ONE_IN !== 1,
      }
      const isSlow = index % SLOW_ONE_IN === SLOW_ONE_IN - 1
      const quickMs = isSlow ? settings.timeoutMs / 2 : random.between(20, 150)
      return { id: newUuid(random), index, settings, quickMs, spreadMs: isSlow ? settings.timeoutMs / 10 : 60 }
    }),
  }
}

/** The host of a monitor's target. */
export const getTargetHost = (index: number): string =>
  `${index % SHARED_HOST_ONE_IN === SHARED_HOST_ONE_IN - 1 ? index - 1 : index}.example.com`

/** The check that probes receive. Its URL contains the host and the index of the monitor. */
export const buildCheckSpec = ({ index }: Pick<SimulatedMonitor, 'index'>, { timeoutMs }: Settings): CheckSpec =>
  createCheckSpec({ url: `https://${getTargetHost(index)}/${index}`, timeoutMs })

export const parseMonitorIndex = ({ url }: CheckSpec): number => Number(url.slice(url.lastIndexOf('/') + 1))
