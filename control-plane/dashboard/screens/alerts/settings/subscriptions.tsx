import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type DataQuery, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Empty } from '../../../parts/layout/states.tsx'
import { CHANNEL_TYPE_NAMES, type Channel } from '../delivery-words.tsx'

type SubscriptionList = OperationResponse<'listAlertProjectChannels'>
type Subscription = SubscriptionList['data'][number]
type AlertType = Subscription['alert_type']

const TYPES: readonly (readonly [AlertType, string])[] = [
  ['incident', 'Incidents'],
  ['dependency_incident', 'Vendors'],
]

/** Which channels receive all incidents of the project, and all events of vendors. */
export function Subscriptions({
  channels,
  subscriptions,
}: {
  channels: OperationResponse<'listAlertChannels'>
  subscriptions: SubscriptionList
}) {
  if (channels.data.length === 0) {
    return (
      <Empty text="There is no channel that could receive them.">
        <a class="button" href="/settings/channels/new">
          Add a channel
        </a>
      </Empty>
    )
  }
  return (
    <>
      <p class="soft">
        Incidents: each one that is opened, updated, acknowledged or resolved, also by hand. Vendors: outages of
        services that the project depends on. Alerts of single monitors are set in the settings of each monitor.
      </p>
      <Scroll name="Subscriptions">
        <table class="subscriptions">
          <thead>
            <tr>
              <th scope="col">Channel</th>
              {TYPES.map(([type, name]) => (
                <th key={type} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {channels.data.map(channel => (
              <ChannelRow
                key={channel.id}
                channel={channel}
                subscriptions={subscriptions.data.filter(one => one.alert_channel_id === channel.id)}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      {channels.meta.total > channels.data.length && (
        <p class="soft small">
          The newest {channels.data.length} of {channels.meta.total} channels. Others can be subscribed with the API.
        </p>
      )}
    </>
  )
}

function ChannelRow({ channel, subscriptions }: { channel: Channel; subscriptions: readonly Subscription[] }) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const findStored = (type: AlertType) => subscriptions.find(one => one.alert_type === type)
  const buildChange = (type: AlertType): DataQuery => {
    const stored = findStored(type)
    return stored
      ? call('deleteAlertProjectChannel', { path: { id: stored.id } })
      : call('createAlertProjectChannel', { body: { alert_channel_id: channel.id, alert_type: type } })
  }
  const toggle = (change: DataQuery) => run<unknown>(() => execute(change.name, change.arguments))
  return (
    <tr>
      <th scope="row">
        <a href={`/settings/channels/${channel.id}`} dir="auto">
          {channel.name}
        </a>{' '}
        <span class="soft small">
          {CHANNEL_TYPE_NAMES[channel.type]}
          {channel.is_paused && <span class="degraded"> · paused</span>}
        </span>
        {error && (
          <p class="wrong" role="alert">
            {error.message}.
          </p>
        )}
        {canWrite(me) && (
          <AsCall
            calls={{ incidents: buildChange('incident'), vendors: buildChange('dependency_incident') }}
            name={`for the other choice of ${channel.name}`}
          />
        )}
      </th>
      {TYPES.map(([type, name]) => {
        return (
          <td key={type}>
            <input
              type="checkbox"
              aria-label={`${name} to ${channel.name}`}
              checked={findStored(type) !== undefined}
              disabled={!canWrite(me) || !isInteractive || isBusy}
              onChange={() => toggle(buildChange(type))}
            />
          </td>
        )
      })}
    </tr>
  )
}
