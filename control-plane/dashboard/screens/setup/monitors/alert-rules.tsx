import { formatDuration } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type DataQuery, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { Empty } from '../../../parts/layout/states.tsx'
import { CHANNEL_KINDS } from '../channels/channel-kinds.ts'

type Channels = OperationResponse<'listAlertChannels'>
type Channel = Channels['data'][number]
type Rule = OperationResponse<'listAlertRules'>['data'][number]
type Switch = 'on_down' | 'on_degraded' | 'on_recovery'

const SWITCHES: readonly (readonly [Switch, string])[] = [
  ['on_down', 'Down'],
  ['on_degraded', 'Degraded'],
  ['on_recovery', 'Recovery'],
]

/** Which channels are notified about a monitor, and about which events. Every change counts at once. */
export function AlertRules({ monitorId, channels, rules }: { monitorId: string; channels: Channels; rules: Rule[] }) {
  const { data, meta } = channels
  if (data.length === 0) {
    return (
      <Empty text="There is no channel yet, so no alerts are sent.">
        <a class="button" href="/settings/channels/new">
          Add a channel
        </a>
      </Empty>
    )
  }
  const silent = isSilent(rules, channels)
  return (
    <>
      {silent && <p class="degraded">No alerts are sent about this monitor.</p>}
      <ul class="list alert-rules">
        {data.map(channel => (
          <ChannelRow
            key={channel.id}
            monitorId={monitorId}
            channel={channel}
            rule={rules.find(one => one.alert_channel_id === channel.id) ?? null}
          />
        ))}
      </ul>
      {meta.total > data.length && (
        <p class="soft small">
          The newest {data.length} of {meta.total} channels. Rules of the others can be changed with the API.
        </p>
      )}
    </>
  )
}

/** The choices of how often a channel is reminded of an outage, with the current one. Minutes as text; empty: never. */
export function listReminders(current: number | null): [minutes: string, name: string][] {
  const minutes = [...new Set([5, 15, 30, 60, 240, 1_440, ...(current === null ? [] : [current])])].sort(
    (a, b) => a - b,
  )
  return [
    ['', 'never'],
    ...minutes.map((one): [string, string] => [String(one), `every ${formatDuration(one * 60_000)}`]),
  ]
}

function ChannelRow({ monitorId, channel, rule }: { monitorId: string; channel: Channel; rule: Rule | null }) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const isFixed = !canWrite(me) || !isInteractive || isBusy
  const calls = buildCalls(monitorId, channel, rule)
  const toggle = () => run<unknown>(() => execute(calls.toggled.name, calls.toggled.arguments))
  return (
    <li>
      <div class="alert-rule">
        <div>
          <label class="choice">
            <input type="checkbox" checked={rule !== null} disabled={isFixed} onChange={toggle} />
            <span>
              <b dir="auto">{channel.name}</b>
            </span>
          </label>
          <p class="small soft">
            {CHANNEL_KINDS[channel.type].name} · <a href={`/settings/channels/${channel.id}`}>settings</a>
            {channel.is_paused && <span class="degraded"> · paused, so nothing is sent</span>}
          </p>
        </div>
        {rule && (
          <fieldset class="switches" disabled={isFixed}>
            <legend class="hidden">
              Events for <bdi>{channel.name}</bdi>
            </legend>
            {SWITCHES.map(([key, label]) => (
              <label key={key} class="choice">
                <input
                  type="checkbox"
                  checked={rule[key]}
                  onChange={event => {
                    const body = { [key]: event.currentTarget.checked }
                    void run(() => execute('updateAlertRule', { path: { id: rule.id }, body }))
                  }}
                />
                <span>{label}</span>
              </label>
            ))}
            <label class="choice">
              <span>Remind</span>
              <select
                value={String(rule.remind_every_minutes ?? '')}
                onChange={event => {
                  const minutes = event.currentTarget.value
                  const body = { remind_every_minutes: minutes === '' ? null : Number(minutes) }
                  void run(() => execute('updateAlertRule', { path: { id: rule.id }, body }))
                }}
              >
                {listReminders(rule.remind_every_minutes).map(([minutes, name]) => (
                  <option key={name} value={minutes} selected={minutes === String(rule.remind_every_minutes ?? '')}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          </fieldset>
        )}
      </div>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
      {canWrite(me) && <AsCall calls={calls} name={`for ${channel.name}`} />}
    </li>
  )
}

/** What the row sends: the other choice, and the events and reminders as they are. */
function buildCalls(
  monitorId: string,
  channel: Channel,
  rule: Rule | null,
): { toggled: DataQuery; changed?: DataQuery } {
  if (!rule)
    return { toggled: call('createAlertRule', { body: { monitor_id: monitorId, alert_channel_id: channel.id } }) }
  const { id, on_down, on_degraded, on_recovery, remind_every_minutes } = rule
  const body = { on_down, on_degraded, on_recovery, remind_every_minutes }
  return {
    toggled: call('deleteAlertRule', { path: { id } }),
    changed: call('updateAlertRule', { path: { id }, body }),
  }
}

/** Whether no alert is sent. A rule of a channel that is not listed may send them: only the newest channels are listed. */
export const isSilent = (rules: readonly Pick<Rule, 'alert_channel_id'>[], { data, meta }: Channels): boolean =>
  !rules.some(rule => {
    const channel = data.find(({ id }) => id === rule.alert_channel_id)
    return channel ? !channel.is_paused : meta.total > data.length
  })
