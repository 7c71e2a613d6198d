import type { ForeignReportFact, PostgresFacts, ProbeFact, RegionFact } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

/** A region that had a probe so lately is missed, also when no monitor uses it now. */
const MAX_ABSENCE_MS = 24 * 3_600_000

/** Regions without probes, monitors that no probe checks, and probes that cannot hand over what they found. */
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
      : [reportHealthy('probes', `${probes.length} live probes publish what they find`)]),
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
    const text = `No probe of ${region} is live; ${monitors} monitors use the region`
    return [
      reportProblem('regions', text, noLiveProbeSinceMs, 'See the log of its probes. Can they reach the role fleet?'),
    ]
  }
  if (unassigned === 0) return []
  const text = `No live probe of ${region} can check ${unassigned} of ${monitors} monitors`
  return [
    reportProblem('regions', text, null, 'GET /probes shows what its probes can do; add one that can do the rest.'),
  ]
}

function findProbeProblems({ name, region, spoolResults, droppedResults, connectivityOk }: ProbeFact): HealthFinding[] {
  const probe = `The probe ${name} of ${region}`
  const lost = droppedResults > 0 ? `; ${droppedResults} were lost since it started` : ''
  const spool = reportProblem(
    'probes',
    `${probe} could not publish ${spoolResults} results, and keeps them on its disk${lost}`,
    null,
    'Can it reach NATS, and is there room in the streams? What it publishes late is history only.',
  )
  const alone = reportProblem(
    'probes',
    `${probe} says that its own connection to the internet does not work`,
    null,
    'Its results count as unknown until it does. See the network of its machine.',
  )
  return [...(spoolResults > 0 ? [spool] : []), ...(connectivityOk === false ? [alone] : [])]
}

const NOUNS: Record<ForeignReportFact['what'], string> = {
  result: 'results',
  comparison: 'comparisons of pages',
  screenshot: 'screenshots',
}

/** It was refused, so it changed nothing; but a probe of Picket never does this. */
function toForeignReportProblem({ region, what, amount, probe, firstAtMs }: ForeignReportFact): HealthFinding {
  const from = probe === null ? `A probe of ${region}` : `A probe of ${region}, by its own account ${probe},`
  return reportProblem(
    'probes',
    `${from} may be compromised: it sent ${amount} ${NOUNS[what]} for regions or monitors that are not its own`,
    firstAtMs,
    'They were refused. Revoke the probes of the region and their token, see how they were reached, and change the credentials in the monitors that they checked (docs/deployment.md). The log of the role record names the monitors.',
  )
}
