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
  computeFaultDelays,
  computeTransitionInDoubtMs,
  FAILURE_MODES,
  getCheckPace,
  INSTALLATION_FAULTS,
  REGION_ABSENCE_TIMEOUT_MS,
} from '../settings/guarantee.ts'
import type { StoredMonitor } from '../types.ts'
import { MonitorRecord } from './monitor-record.ts'

/** A guarantee with a longer interval is of little use, in seconds. */
const LONG_INTERVAL_S = 900

const Seconds = (description: string) => Type.Number({ description: `${description}, in seconds.` })

/** The guarantee of a monitor in the API (docs/design/monitors.md#guarantee). Only documents the response; it validates nothing. */
export const GuaranteeRecord = Type.Object(
  {
    outages: Type.Array(
      Type.Object({
        kind: stringEnum(FAILURE_MODES),
        down_within: Seconds('From the beginning of the outage until the monitor is down'),
        message_within: Seconds('From the beginning of the outage until the first alert is sent'),
        shortest: Seconds('The duration from which on every outage is noticed'),
        down_within_in_doubt: Seconds(
          'down_within when many other hosts begin to fail for the region at the same time, so that the failure waits for a second region. With several regions, for an outage that all of them see',
        ),
      }),
      {
        description:
          'refused: the connection fails immediately; wrong: a quick but wrong answer; slow: a wrong answer just before the timeout; hanging: no answer, after quick answers; after slow answers, the limits of slow apply. Empty when nothing is guaranteed.',
      },
    ),
    reasons: Type.Array(Type.String(), {
      description: 'Why nothing is guaranteed, or what weakens the guarantee: a code, a colon and a sentence.',
    }),
    holds_while: Type.String(),
    under_faults: Type.Array(
      Type.Object({
        fault: stringEnum(INSTALLATION_FAULTS),
        adds: Seconds('What the fault adds to each limit'),
        adds_duration: Type.Boolean({ description: 'Whether it adds the duration of the fault, too.' }),
      }),
      {
        description:
          'What faults of the installation add to each limit; several faults add up. probe_lost: another probe of the region works; acknowledgements_lost: NATS stores results without an answer; control_plane_lost: one of its processes ends or loses NATS or PostgreSQL; regions_lost: no probe of some regions works until the verdict; all_regions_lost: none works in any region, or the fault ends before the verdict; nats_or_postgresql_lost: unavailable, or the clock was set. Empty when nothing is guaranteed.',
      },
    ),
  },
  { title: 'Guarantee' },
)

/** A monitor in the answer of a create and of an update. */
export const MonitorWithGuarantee = Type.Object(
  { ...MonitorRecord.properties, guarantee: GuaranteeRecord },
  { title: 'MonitorWithGuarantee' },
)

export const GUARANTEE_CONDITIONS = `NATS, PostgreSQL, the control plane and in each region the probe that checks the monitor are working, the monitor was up without a failed check in the minutes before, no rule delays the alert, and while many hosts fail for its region at the same time no probe of another region gets an answer with a status below 500 from the target. When some of its regions, but not all, lose their probes, the other regions decide without them, and each limit is ${REGION_ABSENCE_TIMEOUT_MS / 1_000} s longer while that begins`

/** `liveTypes` null: it is unknown which probes are connected. */
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
    under_faults: (obstacles.length > 0 ? [] : computeFaultDelays(pace, monitor.regions.length)).map(
      ({ fault, addedMs, addsDuration }) => ({ fault, adds: toSeconds(addedMs), adds_duration: addsDuration }),
    ),
  }
}

/** Lists why nothing is guaranteed. Empty when there is a guarantee. */
function listObstacles(monitor: StoredMonitor, liveTypes: LiveCheckTypes | null): string[] {
  if (monitor.dataSource !== null)
    return ['data_source: the status is that of a document, which is fetched at its own interval']
  if (monitor.type === 'heartbeat')
    return [
      'heartbeat: the monitor is down when no ping arrives within heartbeat_interval plus heartbeat_grace and 7 seconds',
    ]
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
  const one = `one_region: only ${regions[0]} checks the monitor, so a network fault of that region can look like an outage; choose three or more regions`
  const long = `long_interval: an outage is noticed after up to ${intervalSeconds} s plus the re-checks; choose a shorter interval_seconds`
  return [
    ...(regions.length === 1 ? [one] : []),
    ...(intervalSeconds > LONG_INTERVAL_S ? [long] : []),
    ...listProbeIssues(monitor, liveTypes).map(issue => `${issue}; the other regions decide without it`),
  ]
}

const toSeconds = (ms: number): number => Math.ceil(ms / 100) / 10
