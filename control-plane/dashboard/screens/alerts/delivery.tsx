import { useFollowing } from '../../browser/following.ts'
import { toPostCommand } from '../../core/api-call/curl.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { call, read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { OperationButton } from '../../parts/forms/operation-form.tsx'
import { Facts, Section } from '../../parts/layout/section.tsx'
import { Empty } from '../../parts/layout/states.tsx'
import { Moment } from '../../parts/moment.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { AttemptList } from './attempt-list.tsx'
import { formatBody } from './delivery-body.ts'
import {
  buildAboutPath,
  type Delivery,
  DeliveryState,
  nameChannel,
  nameDelivery,
  STATUS_SENTENCES,
} from './delivery-words.tsx'

/** One delivery: what was sent, each attempt, and what the receiver answered. */
export const deliveryScreen = screen({
  path: '/log/:id',
  area: 'alerts',
  queries: ({ params: { id = '' } }) => ({
    delivery: read('readAlertLog', { path: { id } }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
  }),
  record: 'delivery',
  title: ({ results }) => nameDelivery(results.delivery.data!.data),
  Body: ({ results: { delivery: result, channels } }) => {
    const delivery = result.data!.data
    const channelName = nameChannel(delivery.alert_channel_id, channels.data?.data ?? null)
    return (
      <>
        <p class="trail">
          <a href="/log">Deliveries</a> /
        </p>
        <Head delivery={delivery} channelName={channelName} />
        <Section id="attempts" title="Attempts">
          <AttemptList delivery={delivery} />
        </Section>
        <Section id="request" title="Request">
          <RequestSent delivery={delivery} />
        </Section>
      </>
    )
  },
})

function Head({ delivery, channelName }: { delivery: Delivery; channelName: string }) {
  const { me } = useFrame()
  const { id, event, status, alert_channel_id: channelId, created_at: createdAt } = delivery
  return (
    <div class="screen-head">
      <div>
        <h1>
          {nameDelivery(delivery)} <span class="soft">to</span> <bdi>{channelName}</bdi>
        </h1>
        <p class="sentence" role="status">
          <DeliveryState status={status} />. <span class="soft">{STATUS_SENTENCES[status]}</span>
        </p>
        <div class="because">
          <Facts
            rows={[
              ['About', <About delivery={delivery} />],
              [
                'Channel',
                <a href={`/log?alert_channel_id=${channelId}`}>
                  All deliveries to <bdi>{channelName}</bdi>
                </a>,
              ],
              ['Event', <code>{event}</code>],
              ['Queued', <Moment at={createdAt} />],
              ['Delivery id', <code>{id}</code>],
            ]}
          />
        </div>
      </div>
      {canWrite(me) ? <Replay delivery={delivery} /> : <NeedsRole what="Sending it again" needed="editor" />}
    </div>
  )
}

/** A link to what the event of a delivery is about. */
function About({ delivery }: { delivery: Delivery }) {
  const { about } = delivery
  if (about === null) return <>several events</>
  const path = buildAboutPath(delivery)
  if (path === null) return <>nothing: it is a test</>
  return (
    <a href={path} dir="auto">
      {about.name}
    </a>
  )
}

/** Sends the delivery again and shows how it goes on until it has ended. */
function Replay({ delivery: { id, status, attempts } }: { delivery: Delivery }) {
  const { refresh } = useFrame()
  const isPending = status === 'pending'
  useFollowing(isPending ? `${id} ${attempts.length}` : null, refresh)
  return (
    <div class="actions">
      {isPending ? (
        <p class="soft">It can be sent again when it has ended.</p>
      ) : (
        <>
          <OperationButton
            action={`/log/${id}/retry`}
            text="Send again"
            call={call('retryAlertLog', { path: { id } })}
          />
          <AsCall call={call('retryAlertLog', { path: { id } })} name="for sending it again" />
        </>
      )}
    </div>
  )
}

function RequestSent({ delivery }: { delivery: Delivery }) {
  const { request_url: url, request_headers: headers, request_body: body } = delivery
  if (url === null && body === null) return <Empty text="There is no request yet: the message was not written." />
  return (
    <div class="request">
      {url !== null && (
        <p class="mono" dir="ltr">
          {/^https?:/.test(url) ? 'POST ' : 'To '}
          {url}
        </p>
      )}
      {headers !== null && (
        <details open>
          <summary>Headers</summary>
          <dl class="headers mono">
            {Object.entries(headers).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {body !== null && (
        <details open>
          <summary>Body</summary>
          <pre dir="auto">{formatBody(body)}</pre>
        </details>
      )}
      {url !== null && body !== null && /^https?:/.test(url) && (
        <RequestCommand
          text={toPostCommand(url, headers ?? {}, body)}
          isSigned={headers !== null && 'webhook-signature' in headers}
        />
      )}
    </div>
  )
}

/** What the API shows instead of a secret. */
const HIDDEN = '********'

/** The request as a command, to try a receiver: with its signatures and its exact body. */
const RequestCommand = ({ text, isSigned }: { text: string; isSigned: boolean }) => (
  <details>
    <summary>As a curl command</summary>
    <pre dir="ltr">{text}</pre>
    <p class="soft small">
      {isSigned && 'A receiver that checks the time of the signature refuses an old one: then use “Send again”. '}
      {text.includes(HIDDEN) && `Replace ${HIDDEN} by the secrets that are hidden here. `}
      <CopyButton text={text} what="the command" />
    </p>
  </details>
)
