import type { ForeignReportFact, PostgresFacts, ProbeFact, RegionFact } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

/** A region that had a probe within this time is reported, even if no monitor uses it now. */
const MAX_ABSENCE_MS = 24 * 3_600_000

/** Regions without probes, monitors that no probe checks, and probes that cannot publish their results. */
export function assessFleet({ nowMs, regions, probes, foreignReports }: PostgresFacts): HealthFinding[] {
  const wanted = regions.filter(
    ({ monitors, lastHeartbeatAtMs }) =>
      monitors > 0 || (lastHeartbeatAtMs !== null && nowMs - lastHeartbeatAtMs < MAX_ABSENCE_MS),
  )
  const ofRegions = wanted.flatMap(findRegionProblems)
  const ofProbes = [...foreignReports.map(toForeignReportProblem), ...probes.flatMap(findProbeProblems)]
  const live = wanted.map(({ region, liveProbes }) => `${region} ${liveProbes}`).join(', ')
  return [
    ...(ofRegions.length > 0
      ? ofRegions
      : [reportHealthy('regions', `Live probes by region: ${live || 'no region is used yet'}`)]),
    ...(ofProbes.length > 0
      ? ofProbes
      : [reportHealthy('probes', `${probes.length} live probes publish their results`)]),
  ]
}

function findRegionProblems({
  region,
  liveProbes,
  monitors,
  unassigned,
  noLiveProbeSinceMs,
}: RegionFact): HealthFinding[] {
  if (liveProbes === 0) {
    const text = `Region ${region} has no live probe; ${monitors} monitors use it`
    return [
      reportProblem(
        'regions',
        text,
        noLiveProbeSinceMs,
        'Check the logs of its probes, and that they can reach the role fleet.',
      ),
    ]
  }
  if (unassigned === 0) return []
  const text = `No live probe of ${region} can check ${unassigned} of ${monitors} monitors`
  return [
    reportProblem(
      'regions',
      text,
      null,
      'GET /probes shows the capabilities of its probes; add a probe with the missing ones.',
    ),
  ]
}

function findProbeProblems({ name, region, spoolResults, droppedResults, connectivityOk }: ProbeFact): HealthFinding[] {
  const probe = `The probe ${name} of ${region}`
  const lost = droppedResults > 0 ? `; ${droppedResults} were lost since it started` : ''
  const spool = reportProblem(
    'probes',
    `${probe} could not publish ${spoolResults} results and stores them on its disk${lost}`,
    null,
    'Check that it can reach NATS and that the streams have room. Results that are published late are history only.',
  )
  const alone = reportProblem(
    'probes',
    `${probe} reports that its own connection to the internet, or its resolver, does not work`,
    null,
    'Its results count as unknown meanwhile. Check the network of its machine.',
  )
  return [...(spoolResults > 0 ? [spool] : []), ...(connectivityOk === false ? [alone] : [])]
}

const NOUNS: Record<ForeignReportFact['what'], string> = {
  result: 'results',
  comparison: 'comparisons of pages',
  screenshot: 'screenshots',
}

/** The reports were refused and changed nothing, but an uncompromised probe never sends them. */
function toForeignReportProblem({ region, what, amount, probe, firstAtMs }: ForeignReportFact): HealthFinding {
  const from = probe === null ? `A probe of ${region}` : `A probe of ${region}, which names itself ${probe},`
  return reportProblem(
    'probes',
    `${from} may be compromised: it sent ${amount} ${NOUNS[what]} for regions or monitors that are not its own`,
    firstAtMs,
    'They were refused. Revoke the probes of the region and their token, find out how they were compromised, and change the credentials of the monitors that they checked (docs/deployment.md). The log of the role record names the monitors.',
  )
}
