/** The current conditions that decide whether a probe is ready. */
export type ReadinessConditions = {
  /** `ok` from the welcome message until the stream ends or is silent for too long */
  fleet: 'ok' | 'away'
  /** `refusing`: connected, but JetStream does not store results */
  nats: 'ok' | 'away' | 'refusing'
  /** `away`: not open, because the region is not known yet; `refusing`: the disk rejects writes */
  spool: 'ok' | 'away' | 'refusing'
  /** stopping, and handing over its monitors */
  isDraining: boolean
}

type Readiness = {
  status: 'ready' | 'not ready'
  dependencies: Pick<ReadinessConditions, 'fleet' | 'nats' | 'spool'>
  /** one sentence for each reason why the probe is not ready */
  problems: string[]
}

const NATS_PROBLEMS = { ok: '', away: 'NATS is unreachable', refusing: 'JetStream does not store them' }
const SPOOL_PROBLEMS = { ok: '', away: 'the spool is not open yet', refusing: 'the disk rejects writes to the spool' }

/** A probe is ready when it is connected to the control plane, can publish or spool results, and is not stopping. */
export function computeReadiness({ isDraining, ...dependencies }: ReadinessConditions): Readiness {
  const { fleet, nats, spool } = dependencies
  const problems: string[] = []
  if (isDraining) problems.push('the probe is stopping and handing over its monitors')
  if (fleet !== 'ok') problems.push('not connected to the control plane')
  if (nats !== 'ok' && spool !== 'ok') {
    problems.push(`results cannot be published or spooled: ${NATS_PROBLEMS[nats]}, and ${SPOOL_PROBLEMS[spool]}`)
  }
  return { status: problems.length === 0 ? 'ready' : 'not ready', dependencies, problems }
}
