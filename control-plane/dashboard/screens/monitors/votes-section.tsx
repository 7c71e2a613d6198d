import type { ExplainedVote } from '../../../verdict/core/types.ts'
import { formatDuration } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { toBars, VoteTable } from '../../parts/explanation.tsx'
import { Section } from '../../parts/layout/section.tsx'
import { Loaded } from '../../parts/layout/states.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Strip } from '../../parts/strip.tsx'
import { nameEvent } from '../alerts/delivery-words.tsx'
import { WithheldReason } from '../alerts/withheld-reason.tsx'
import { MonitorSilence } from '../suppression/silences/silences-in-force.tsx'

type Votes = OperationResponse<'listMonitorVotes'>['data']

/** What each region says now, and how far the monitor is from another status. */
export const VotesSection = ({
  result,
  isHeartbeat,
}: {
  result: Result<OperationResponse<'listMonitorVotes'>>
  isHeartbeat: boolean
}) => (
  <Section
    id="votes"
    title={isHeartbeat ? 'Pings' : 'Votes now'}
    aside={result.data && <NextCheck votes={result.data.data} />}
  >
    <Loaded result={result} what="The votes">
      {({ data }) => (
        <>
          <p class="rule">
            <Strip bars={toBars(data.votes as ExplainedVote[])} label={isHeartbeat ? 'Pings' : 'Votes now'} />{' '}
            {isHeartbeat ? formatPings(data) : formatMargin(data)}
          </p>
          {data.silenced_by.map(silence => {
            const key = `${silence.kind}${silence.id}`
            return silence.kind === 'silenced' ? (
              <MonitorSilence key={key} silence={silence} isWithheld={data.alerts_withheld} />
            ) : (
              <p key={key} class="banner" dir="auto">
                {formatSilence(silence)}
              </p>
            )
          })}
          <WithheldAlerts alerts={data.withheld_alerts ?? []} />
          <VoteTable votes={data.votes as ExplainedVote[]} threshold={data.thresholds.failures_in_a_row} />
          {!data.checks_available && (
            <p class="missing">The newest checks cannot be read at the moment. Verdicts are not affected.</p>
          )}
        </>
      )}
    </Loaded>
  </Section>
)

/** The alerts that were not sent, and may be when the reason has ended. */
const WithheldAlerts = ({ alerts }: { alerts: Votes['withheld_alerts'] }) =>
  alerts.length === 0 ? null : (
    <ul class="soft" aria-label="Withheld alerts">
      {alerts.map(alert => (
        <li key={alert.event_id}>
          {nameEvent(alert.event)} of <Moment at={alert.at} />: <WithheldReason alert={alert} />
        </li>
      ))}
    </ul>
  )

/** What the pings of a heartbeat say. They have no regions that vote. */
export function formatPings({ quorum, counts }: Pick<Votes, 'quorum' | 'counts'>): string {
  if (counts.failing > 0) return 'The expected ping has not come, or a run has failed.'
  return quorum.voting === 0 ? 'No ping has come yet.' : 'The last ping came in time.'
}

/** `One more failing vote and it is down.` */
export function formatMargin({ quorum, counts, failing_votes_needed: needed, unchecked_since: since }: Votes): string {
  if (since !== null) return 'No check has counted for three intervals, so the status is unknown.'
  if (quorum.mode === null || needed === null)
    return `${quorum.voting} of ${quorum.regions} regions have a vote. ${quorum.needed} are needed, so the status is held.`
  const failing = `${counts.failing} of ${quorum.voting} votes ${counts.failing === 1 ? 'is' : 'are'} failing`
  const missing = needed - counts.failing
  if (missing <= 0) return `${failing}; ${needed} ${needed === 1 ? 'is' : 'are'} enough for down.`
  return `${failing}; ${missing} more ${missing === 1 ? 'makes' : 'make'} it down.`
}

function formatSilence({ kind, name, until }: Votes['silenced_by'][number]): string {
  const end = until === null ? '' : ` until ${until.slice(0, 16).replace('T', ' ')} UTC`
  switch (kind) {
    case 'paused':
      return 'The monitor is paused: it is not checked.'
    case 'maintenance':
      return `No alerts${end}: maintenance window "${name}".`
    case 'parent_down':
      return `No alerts${end}: the parent "${name}" is down.`
    default:
      return `Alerts wait${end}: the parent "${name}" may be down too.`
  }
}

function NextCheck({ votes }: { votes: Votes }) {
  const [next] = votes.votes.flatMap(({ next_check_at: at }) => at ?? []).sort()
  const lifetime = votes.thresholds.vote_lifetime_seconds
  return (
    <span class="soft small">
      {next !== undefined && (
        <>
          Next check <Moment at={next} part="time" />
        </>
      )}
      {lifetime !== null && ` · a vote is valid for ${formatDuration(lifetime * 1_000)}`}
    </span>
  )
}
