import { Moment } from '../../../parts/moment.tsx'
import { CheckDetail } from '../../monitors/checks/check-detail.tsx'
import type { Check } from '../../monitors/types.ts'
import type { Timeline } from './axis.ts'

/** A failed check and a healthy one side by side, with what the probes recorded. */
export const EvidencePair = ({ evidence: { failing, healthy } }: { evidence: NonNullable<Timeline['evidence']> }) => (
  <div class="columns evidence-pair">
    <EvidenceCheck check={failing} name="Failing" />
    {healthy ? (
      <EvidenceCheck check={healthy} name={healthy.region === failing.region ? 'Before the failure' : 'Healthy'} />
    ) : (
      <p class="missing">There is no healthy check to compare.</p>
    )}
  </div>
)

const EvidenceCheck = ({ check, name }: { check: Check; name: string }) => {
  const { id, monitor_id: monitorId, scheduled_at: at, region, status } = check
  return (
    <article aria-label={`${name}: ${region}`}>
      <p>
        <strong class={status === 'down' ? 'down' : undefined}>{name}</strong> in {region}, <Moment at={at} />{' '}
        <a href={`/monitors/${monitorId}?${new URLSearchParams({ check: id, at })}#check`}>
          Open<span class="hidden"> the check in {region}</span>
        </a>
      </p>
      <CheckDetail check={check} baseline={null} isAcceptable={false} />
    </article>
  )
}
