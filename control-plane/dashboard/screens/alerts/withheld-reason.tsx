import type { OperationResponse } from '../../core/operations.ts'
import { Moment } from '../../parts/moment.tsx'

type WithheldAlerts = Pick<OperationResponse<'listMonitorVotes'>['data']['withheld_alerts'][number], 'reason' | 'until'>

const REASONS: Record<WithheldAlerts['reason'], string> = {
  maintenance: 'maintenance',
  silenced: 'a silence',
  parent: 'the outage of a parent',
  grace: 'the outage of a parent, which has ended',
  doubt: 'a parent that may be down too',
}

/** Why an alert was not sent: `withheld by a silence until 14:00:00`. */
export const WithheldReason = ({ alert: { reason, until } }: { alert: WithheldAlerts }) => (
  <>
    withheld by {REASONS[reason]}
    {until !== null && (
      <>
        {' '}
        until <Moment at={until} />
      </>
    )}
  </>
)
