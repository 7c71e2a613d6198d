import { useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../core/address.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { call, read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { OperationButton } from '../../parts/forms/operation-form.tsx'
import { AreaTabs } from '../../parts/layout/area-tabs.tsx'
import { Pager } from '../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../parts/layout/states.tsx'
import { Moment } from '../../parts/moment.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { CHANNEL_TYPE_NAMES, type Channel } from './delivery-words.tsx'
import { TestResult } from './test-result.tsx'

const PATH = '/settings/channels'

/** The alert channels: where alerts are sent, and whether they arrive. */
export const channelListScreen = screen({
  path: PATH,
  area: 'alerts',
  queries: ({ search }) => ({
    channels: read('listAlertChannels', { query: { per_page: 100, page: parsePage(search) } }),
  }),
  title: () => 'Channels',
  Body: ({ results }) => (
    <>
      <h1>Channels</h1>
      <AreaTabs area="alerts" current={PATH} />
      <NeedsRole what="Adding, testing and changing channels" needed="editor" />
      <Loaded result={results.channels} what="The channels">
        {({ data, meta }) => (
          <>
            {data
              .filter(channel => channel.is_paused)
              .map(channel => (
                <PausedBanner key={channel.id} channel={channel} />
              ))}
            {meta.total === 0 ? (
              <Empty text="There is no channel. Without one, no alert about an outage is sent." />
            ) : (
              <ul class="list channels">
                {data.map(channel => (
                  <ChannelRow key={channel.id} channel={channel} />
                ))}
              </ul>
            )}
            <Pager meta={meta} what="channels" buildPath={page => buildAddress(PATH, { page })} />
          </>
        )}
      </Loaded>
    </>
  ),
})

/** A channel that was paused because its deliveries failed. */
function PausedBanner({ channel }: { channel: Channel }) {
  const { me } = useFrame()
  const { id, name, paused_at: at, paused_reason: reason } = channel
  return (
    <section class="banner trouble" aria-label={`${name} is paused`}>
      <p>
        <strong dir="auto">{name}</strong> is paused
        {at !== null && (
          <>
            {' '}
            since <Moment at={at} />
          </>
        )}
        {reason !== null && `: ${reason}`}. Its deliveries are skipped until it is resumed.
      </p>
      <div class="actions">
        {canWrite(me) && (
          <>
            <OperationButton
              action={`${PATH}/${id}/resume`}
              text="Resume"
              name={name}
              call={call('resumeAlertChannel', { path: { id } })}
            />
            <AsCall call={call('resumeAlertChannel', { path: { id } })} name={`for resuming ${name}`} />
          </>
        )}
        <a class="button quiet" href={buildAddress('/log', { alert_channel_id: id, status: 'skipped' })}>
          Skipped deliveries
        </a>
      </div>
    </section>
  )
}

function ChannelRow({ channel }: { channel: Channel }) {
  const { me } = useFrame()
  const [testId, setTestId] = useState<string | null>(null)
  const { id, name, type, is_default: isDefault, is_paused: isPaused } = channel
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{name}</h2>
          <p class="soft small">
            {[CHANNEL_TYPE_NAMES[type], describeTarget(channel)].filter(Boolean).join(', ')}
            {isDefault && ' · default for new monitors'}
          </p>
          <Condition channel={channel} />
        </div>
        <div class="actions">
          <a class="button quiet" href={buildAddress('/log', { alert_channel_id: id })}>
            Deliveries
            <span class="hidden">
              {' '}
              to <bdi>{name}</bdi>
            </span>
          </a>
          {canWrite(me) && !isPaused && (
            <>
              <OperationButton
                action={`${PATH}/${id}/test`}
                text="Test"
                name={name}
                call={call('testAlertChannel', { path: { id } })}
                onDone={({ data }) => setTestId(data.id)}
              />
              <AsCall call={call('testAlertChannel', { path: { id } })} name={`for a test of ${name}`} />
            </>
          )}
        </div>
      </div>
      {testId !== null && <TestResult key={testId} deliveryId={testId} />}
    </li>
  )
}

/** What is wrong with a channel. Nothing for one that works. */
function Condition({ channel }: { channel: Channel }) {
  const { is_paused: isPaused, consecutive_failures: failures, email_addresses: addresses } = channel
  const unconfirmed = (addresses ?? []).filter(({ status }) => status === 'unconfirmed').map(({ address }) => address)
  return (
    <>
      {isPaused && <p class="down small">Paused</p>}
      {!isPaused && failures > 0 && (
        <p class="down small">
          {failures === 1 ? 'The last delivery' : `The last ${failures} deliveries`} failed. After 50 in a row the
          channel is paused.
        </p>
      )}
      {unconfirmed.length > 0 && (
        <p class="degraded small">Not confirmed yet, so no alerts go there: {unconfirmed.join(', ')}.</p>
      )}
    </>
  )
}

/** Where a channel sends to, with secrets masked. */
function describeTarget({ config, email_addresses: addresses }: Channel): string {
  if (addresses !== null) return addresses.map(({ address }) => address).join(', ')
  const target = config.url ?? config.webhook_url ?? config.channel_id
  return typeof target === 'string' ? target : ''
}
