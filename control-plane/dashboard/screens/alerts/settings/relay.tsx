import { useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { FilterForm } from '../../../parts/forms/filter-form.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Scroll, Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago, Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Shape, type ShownStatus } from '../../../parts/status.tsx'
import { ChannelChoice } from '../channel-choice.tsx'
import { DeliveryTable } from '../delivery-table.tsx'
import type { Channel } from '../delivery-words.tsx'

const PATH = '/log/relay'
/** The API sends at most this number in one call. */
const MAX_REDRIVEN = 10_000

const parseChannel = (search: URLSearchParams): { alert_channel_id?: string } => {
  const id = search.get('alert_channel_id')
  return id ? { alert_channel_id: id } : {}
}

type Destination = OperationResponse<'listAlertRelay'>['data'][number]
type DeliveryList = OperationResponse<'listAlertLog'>

/** The relay: its destinations, and the deliveries that it gave up. */
export const relayScreen = screen({
  path: PATH,
  area: 'alerts',
  queries: ({ search }) => ({
    destinations: read('listAlertRelay', { query: { per_page: 100 } }),
    dead: read('listAlertLog', { query: { status: 'dead', ...parseChannel(search), page: parsePage(search) } }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
  }),
  title: () => 'Relay',
  Body: ({ results, search }) => {
    const channels = results.channels.data?.data ?? null
    const { alert_channel_id: channelId = null } = parseChannel(search)
    return (
      <>
        <h1>Relay</h1>
        <AreaTabs area="alerts" current={PATH} />
        <p class="soft">
          The relay sends the deliveries of webhooks with a relay id for 24 hours. It stops asking a receiver that fails
          five times in a row, and tries again every minute.
        </p>
        <Section id="destinations" title="Destinations">
          <Loaded result={results.destinations} what="The destinations">
            {({ data }) =>
              data.length === 0 ? (
                <Empty text="No delivery has gone through the relay. A webhook channel uses it when it has a relay_source_id.">
                  <a href="/settings/channels">Channels</a>
                </Empty>
              ) : (
                <Destinations destinations={data} />
              )
            }
          </Loaded>
        </Section>
        <Section id="dead" title="Given up">
          <FilterForm filter={channelId ?? ''} path={PATH} what="deliveries" isFiltered={channelId !== null}>
            <ChannelChoice channels={channels} value={channelId} />
          </FilterForm>
          <Loaded result={results.dead} what="The deliveries">
            {list => <Dead key={channelId} list={list} channels={channels} channelId={channelId} />}
          </Loaded>
        </Section>
      </>
    )
  },
})

/** What a state of the circuit breaker means. */
const STATES: Record<Destination['state'], { shape: ShownStatus; name: string }> = {
  closed: { shape: 'up', name: 'Sending' },
  half_open: { shape: 'degraded', name: 'Trying again' },
  open: { shape: 'down', name: 'Waiting, because it failed' },
}

const Destinations = ({ destinations }: { destinations: readonly Destination[] }) => (
  <Scroll name="Destinations of the relay">
    <table class="destinations">
      <thead>
        <tr>
          <th scope="col">Destination</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Waiting
          </th>
          <th scope="col" class="number">
            Given up
          </th>
          <th scope="col">Next attempt</th>
        </tr>
      </thead>
      <tbody>
        {destinations.map(({ id, destination, state, consecutive_failures: failures, waiting, dead, ...times }) => (
          <tr key={id}>
            <th scope="row" dir="auto">
              {destination}
            </th>
            <td>
              <span class={`state ${STATES[state].shape}`}>
                <Shape status={STATES[state].shape} />
                {STATES[state].name}
              </span>
              {failures > 0 && <span class="soft small"> {formatCount(failures, 'failure')} in a row</span>}
              {times.opened_at !== null && (
                <span class="soft small">
                  {' '}
                  since <Ago at={times.opened_at} />
                </span>
              )}
            </td>
            <td class="number">{formatNumber(waiting)}</td>
            <td class="number">{formatNumber(dead)}</td>
            <td>{times.next_trial_at === null ? '' : <Moment at={times.next_trial_at} part="time" />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

function Dead({
  list: { data, meta },
  channels,
  channelId,
}: {
  list: DeliveryList
  channels: readonly Channel[] | null
  /** of the filter */
  channelId: string | null
}) {
  const { me } = useFrame()
  if (meta.total === 0) {
    const which = channelId === null ? '' : ' to this channel'
    return <Empty text={`The relay has given up no delivery${which}.`} />
  }
  return (
    <>
      {canWrite(me) ? (
        <Redrive total={meta.total} channelId={channelId} />
      ) : (
        <NeedsRole what="Sending deliveries again" needed="editor" />
      )}
      <DeliveryTable deliveries={data} channels={channels} />
      <Pager
        meta={meta}
        what="deliveries"
        buildPath={page => buildAddress(PATH, { alert_channel_id: channelId, page })}
      />
    </>
  )
}

/** Sends all of them, or all of one channel, again, after their number was typed. */
function Redrive({ total, channelId }: { total: number; channelId: string | null }) {
  const { execute, isInteractive } = useFrame()
  const [typed, setTyped] = useState('')
  const [sent, setSent] = useState<number | null>(null)
  const { isBusy, error, run } = useAttempt()
  const isConfirmed = typed.trim() === String(total)
  const redrive = call('redriveAlertRelay', { body: channelId === null ? {} : { alert_channel_id: channelId } })
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isConfirmed) return
    const done = await run(() => execute(redrive.name, redrive.arguments))
    if (done) setSent(done.data.redriven)
    setTyped('')
  }
  return (
    <>
      <NeedsScript what="Sending them again" call={redrive} />
      <form class="stack scripted" onSubmit={submit}>
        <p>
          Send all of them again: with the same ids and bodies, oldest first,{' '}
          {channelId === null ? 'to all channels that are not paused' : 'to this channel'}. The relay then tries for
          another 24 hours. To send a single delivery again, open it.
          {total > MAX_REDRIVEN && ` At most ${formatNumber(MAX_REDRIVEN)} are sent at once.`}
        </p>
        <div class="field">
          <label for="redrive-count">
            Type <span class="mono">{total}</span> to send {formatCount(total, 'alert')} again
          </label>
          <input
            id="redrive-count"
            inputMode="numeric"
            value={typed}
            autocomplete="off"
            onInput={event => setTyped(event.currentTarget.value)}
          />
        </div>
        <div class="actions">
          <button type="submit" disabled={!isConfirmed || isBusy || !isInteractive}>
            Send again
          </button>
          <span role="status">{sent !== null && `${formatCount(sent, 'alert')} sent again.`}</span>
        </div>
        {error && (
          <p class="wrong" role="alert">
            {error.message}.
          </p>
        )}
        <AsCall call={redrive} />
      </form>
    </>
  )
}
