/** What a probe needs to be of use, as it stands now. */
export type ReadinessConditions = {
  /** `ok` from the control plane's welcome on, until the link ends or falls silent */
  fleet: 'ok' | 'away'
  /** `refusing`: the server is there, and JetStream does not take results */
  nats: 'ok' | 'away' | 'refusing'
  /** `away`: not opened, because no control plane has said for which region; `refusing`: the disk takes nothing more */
  spool: 'ok' | 'away' | 'refusing'
  /** it was asked to stop, and hands its work over */
  isDraining: boolean
}

export type Readiness = {
  status: 'ready' | 'not ready'
  dependencies: Pick<ReadinessConditions, 'fleet' | 'nats' | 'spool'>
  /** a sentence for each thing that keeps the probe from being ready */
  problems: string[]
}

const WHY_NOT_NATS = { ok: '', away: 'NATS is away', refusing: 'JetStream refuses them' }
const WHY_NOT_SPOOL = { ok: '', away: 'the spool is not open yet', refusing: 'the disk refuses the spool' }

/** Ready is a probe that is linked to its fleet, gets rid of its results, to JetStream or to its disk, and is to stay. */
export function computeReadiness({ isDraining, ...dependencies }: ReadinessConditions): Readiness {
  const { fleet, nats, spool } = dependencies
  const problems: string[] = []
  if (isDraining) problems.push('the probe is stopping and hands its work over')
  if (fleet !== 'ok') problems.push('there is no link to the control plane')
  if (nats !== 'ok' && spool !== 'ok') {
    problems.push(`results can go nowhere: ${WHY_NOT_NATS[nats]}, and ${WHY_NOT_SPOOL[spool]}`)
  }
  return { status: problems.length === 0 ? 'ready' : 'not ready', dependencies, problems }
}
