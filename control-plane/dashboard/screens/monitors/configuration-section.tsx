import { formatDuration, formatMs } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { Facts, Section } from '../../parts/layout/section.tsx'
import { Empty, Failure, Loaded } from '../../parts/layout/states.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Monitor } from './types.ts'

type Rules = Result<OperationResponse<'listAlertRules'>>
type Channels = Result<OperationResponse<'listAlertChannels'>>

/** The channels that this monitor alerts. */
export function AudienceSection({ monitor, rules, channels }: { monitor: Monitor; rules: Rules; channels: Channels }) {
  const { me } = useFrame()
  const names = new Map(channels.data?.data.map(channel => [channel.id, channel]))
  return (
    <Section id="audience" title="Alerts">
      <Failure result={channels} what="The names and pauses of the channels" />
      <Loaded result={rules} what="The alert rules">
        {({ data }) =>
          data.length === 0 ? (
            <Empty text="This monitor has no alert channel.">
              {canWrite(me) && <a href={`/monitors/${monitor.id}/settings#alerts`}>Add a channel</a>}
            </Empty>
          ) : (
            <ul class="list">
              {data.map(rule => {
                const channel = names.get(rule.alert_channel_id)
                return (
                  <li key={rule.id}>
                    <a href={`/settings/channels/${rule.alert_channel_id}`} dir="auto">
                      {channel?.name ?? 'Channel'}
                    </a>{' '}
                    <span class="soft">
                      {channel?.type} · {formatEvents(rule)}
                    </span>
                    {channel?.is_paused && (
                      <p class="wrong">
                        Paused: <bdi>{channel.paused_reason}</bdi>
                      </p>
                    )}
                  </li>
                )
              })}
            </ul>
          )
        }
      </Loaded>
      <p class="small">
        <a href={`/log?monitor_id=${monitor.id}`}>Log of deliveries</a>
      </p>
    </Section>
  )
}

type Rule = OperationResponse<'listAlertRules'>['data'][number]

/** `down, recovery; reminder every 30 min` */
function formatEvents(rule: Rule): string {
  const events = [rule.on_down && 'down', rule.on_degraded && 'degraded', rule.on_recovery && 'recovery']
  const every = rule.remind_every_minutes
  return `${events.filter(Boolean).join(', ')}${every === null ? '' : `; reminder every ${formatDuration(every * 60_000)}`}`
}

/** `data_source: the status is …` as a sentence: the code is for programs. */
function describeReason(reason: string): string {
  const text = reason.replace(/^[a-z_]+: /, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** How the monitor is checked, and what that guarantees. */
export const ConfigurationSection = ({
  monitor,
  guarantee,
}: {
  monitor: Monitor
  guarantee: Result<OperationResponse<'readMonitorGuarantee'>>
}) => (
  <Section id="settings" title="Settings">
    <Facts
      rows={
        monitor.data_source
          ? [
              [
                'Data source',
                <a href={`/sources/${monitor.data_source.id}`} dir="auto">
                  {monitor.data_source.name}
                </a>,
              ],
              ['Value', <code dir="ltr">{monitor.data_source.key}</code>],
            ]
          : monitor.type === 'heartbeat'
            ? [
                ['Expected every', formatDuration((monitor.heartbeat_interval ?? 0) * 1_000)],
                ['Grace', formatDuration((monitor.heartbeat_grace ?? 0) * 1_000)],
                ['Ping address', monitor.ping_url && <code>{monitor.ping_url}</code>],
              ]
            : [
                ['Checked every', formatDuration(monitor.interval_seconds * 1_000)],
                ['Regions', monitor.regions.join(', ')],
                ['Timeout', formatMs(monitor.timeout_ms)],
                ['Re-checks', String(monitor.retry_count)],
                ['Assertions', monitor.assertions?.map(one => `${one.type} ${one.operator} ${one.value}`).join('; ')],
                ['Certificate expires', monitor.ssl_expires_at && <Moment at={monitor.ssl_expires_at} part="date" />],
                ['Domain expires', monitor.domain_expires_at && <Moment at={monitor.domain_expires_at} part="date" />],
              ]
      }
    />
    <Loaded result={guarantee} what="The guaranteed times">
      {({ data: { outages, reasons } }) => (
        <>
          {outages.length > 0 && (
            <p class="small soft guarantee">
              An outage is detected at the latest after{' '}
              {outages
                .map(({ kind, down_within: seconds }) => `${formatDuration(seconds * 1_000)} (${kind})`)
                .join(', ')}
              .
            </p>
          )}
          {reasons.map(reason => (
            <p key={reason} class="small soft guarantee" dir="auto">
              {describeReason(reason)}
            </p>
          ))}
        </>
      )}
    </Loaded>
  </Section>
)
