import { Type } from 'typebox'
import { stringEnum } from '../../../foundation/web/validation/schemas.ts'
import {
  isDecidedByOtherRegions,
  type LiveCheckTypes,
  listConfigurationIssues,
  listProbeIssues,
  listRegionsWithoutProbe,
} from '../settings/configuration-issues.ts'
import {
  computeDetectionLimits,
  computeTransitionInDoubtMs,
  FAILURE_MODES,
  getCheckPace,
  REGION_ABSENCE_TIMEOUT_MS,
} from '../settings/guarantee.ts'
import type { StoredMonitor } from '../types.ts'
import { MonitorRecord } from './monitor-record.ts'

/** An interval from which on a guarantee is of little use, in seconds. */
const LONG_INTERVAL_S = 900

const Seconds = (description: string) => Type.Number({ description: `seconds: ${description}` })

/** What a monitor's settings guarantee, as the API answers it. Describes only; it validates nothing. */
export const GuaranteeRecord = Type.Object(
  {
    outages: Type.Array(
      Type.Object({
        kind: stringEnum(FAILURE_MODES),
        down_within: Seconds('from the beginning of the outage until the monitor is down'),
        message_within: Seconds('from the beginning of the outage until the first alert leaves'),
        shortest: Seconds('each outage that lasts so long is noticed'),
        down_within_in_doubt: Seconds(
          'the same as down_within, where many other hosts begin to fail for the region at the same time: the failure waits for a second region then',
        ),
      }),
      {
        description:
          'refused: fails at once; wrong: answers at once, wrongly; slow: answers wrongly just before the timeout; hanging: no answer, after quick ones. Empty without a guarantee',
      },
    ),
    reasons: Type.Array(Type.String(), {
      description: 'why nothing is guaranteed, or what weakens the guarantee: a code, a colon and a sentence',
    }),
    holds_while: Type.String(),
  },
  { title: 'Guarantee' },
)

/** A monitor in the answer of a create and of an update. */
export const MonitorWithGuarantee = Type.Object(
  { ...MonitorRecord.properties, guarantee: GuaranteeRecord },
  { title: 'MonitorWithGuarantee' },
)

export const GUARANTEE_CONDITIONS = `NATS, PostgreSQL and one probe in each region of the monitor are working, the monitor was up without a failed check in the minutes before, no rule delays the alert, and while many hosts fail for its region at once no probe of another region gets an answer of the target other than a status of 500 or more. When some of its regions, not all, lose their probes, the other ones decide without them: each limit is ${REGION_ABSENCE_TIMEOUT_MS / 1_000} s longer while that begins`

/** `liveTypes` null: which probes are connected is not known. */
export function toGuaranteeResponse(monitor: StoredMonitor, liveTypes: LiveCheckTypes | null) {
  const obstacles = listObstacles(monitor, liveTypes)
  const pace = getCheckPace(monitor)
  const withProbe = monitor.regions.length - listRegionsWithoutProbe(monitor, liveTypes).length
  const limits = obstacles.length > 0 ? [] : computeDetectionLimits(pace)
  return {
    outages: limits.map(({ kind, transitionMs, messageMs, shortestMs }) => ({
      kind,
      down_within: toSeconds(transitionMs),
      message_within: toSeconds(messageMs),
      shortest: toSeconds(shortestMs),
      down_within_in_doubt: toSeconds(computeTransitionInDoubtMs(kind, pace, withProbe)),
    })),
    reasons: obstacles.length > 0 ? obstacles : listWeaknesses(monitor, liveTypes),
    holds_while: GUARANTEE_CONDITIONS,
  }
}

/** Why nothing is guaranteed; empty with a guarantee. */
function listObstacles(monitor: StoredMonitor, liveTypes: LiveCheckTypes | null): string[] {
  if (monitor.dataSource !== null)
    return ['data_source: the status follows a document, at the pace at which it is fetched']
  if (monitor.type === 'heartbeat')
    return ['heartbeat: the monitor is down when no ping came within heartbeat_interval and heartbeat_grace']
  const incomplete = listConfigurationIssues(monitor).map(issue => `incomplete: ${issue}`)
  const paused = monitor.isPaused ? ['paused: the monitor is not checked'] : []
  return [
    ...incomplete,
    ...paused,
    ...(isDecidedByOtherRegions(monitor, liveTypes) ? [] : listProbeIssues(monitor, liveTypes)),
  ]
}

function listWeaknesses(monitor: StoredMonitor, liveTypes: LiveCheckTypes | null): string[] {
  const { regions, intervalSeconds } = monitor
  const one = `one_region: only ${regions[0]} checks the monitor, so that trouble of that region's network can look like an outage; choose three regions or more`
  const long = `long_interval: an outage is found after up to ${intervalSeconds} s and the re-checks; choose a shorter interval_seconds`
  return [
    ...(regions.length === 1 ? [one] : []),
    ...(intervalSeconds > LONG_INTERVAL_S ? [long] : []),
    ...listProbeIssues(monitor, liveTypes).map(issue => `${issue}; the other regions decide without it`),
  ]
}

const toSeconds = (ms: number): number => Math.ceil(ms / 100) / 10
