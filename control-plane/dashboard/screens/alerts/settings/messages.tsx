import { DIGEST_EVENT } from '../../../../alerting/events/digest.ts'
import { buildAddress } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { screen } from '../../../core/screen.ts'
import { FilterChoice, FilterForm } from '../../../parts/forms/filter-form.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { CHANNEL_KINDS, CHANNEL_TYPES as KINDS } from '../../setup/channels/channel-kinds.ts'
import { nameEvent } from '../delivery-words.tsx'
import { ChatMessage } from './chat-message.tsx'
import { MailMessage } from './mail-message.tsx'
import { buildSampleMessage, LAYOUTS, type SampleMessage } from './message-content.ts'
import { PREVIEWS, type PreviewName } from './sample-events.ts'

const PATH = '/settings/alerts/messages'
/** Links of the preview. Nothing opens them. */
const ORIGIN = 'https://picket.example.com'

type Kind = (typeof KINDS)[number]

/** How the message about each event looks in each kind of channel. The choice is in the address. */
export const messagesScreen = screen({
  path: PATH,
  area: 'alerts',
  queries: () => ({ ...FRAME_READS }),
  title: () => 'Messages',
  Body: ({ search }) => {
    const { nowMs } = useFrame()
    const event = PREVIEWS.find(one => one === search.get('event')) ?? 'monitor.down'
    const kind = KINDS.find(one => one === search.get('channel_type')) ?? null
    const message = buildSampleMessage(event, ORIGIN, Math.floor(nowMs / 60_000) * 60_000)
    return (
      <>
        <h1>Messages</h1>
        <AreaTabs area="alerts" current={PATH} />
        <p class="soft">
          What each kind of channel receives, with sample data. Nothing is sent. To send a real one, test a channel in{' '}
          <a href="/settings/channels">Channels</a>.
        </p>
        <FilterForm path={PATH} what="messages" isFiltered={false}>
          <FilterChoice
            name="event"
            label="Event"
            all={namePreview('monitor.down')}
            value={event}
            options={PREVIEWS.filter(one => one !== 'monitor.down').map(one => [one, namePreview(one)])}
          />
          <FilterChoice
            name="channel_type"
            label="Kind of channel"
            all="All kinds of channels"
            value={kind}
            options={KINDS.map(one => [one, CHANNEL_KINDS[one].name])}
          />
        </FilterForm>
        {(kind === null ? KINDS : [kind]).map(one => (
          <Section
            key={one}
            id={one}
            title={CHANNEL_KINDS[one].name}
            aside={
              kind === null ? (
                <a href={buildAddress(PATH, { event, channel_type: one })}>
                  Only this<span class="hidden"> kind: {CHANNEL_KINDS[one].name}</span>
                </a>
              ) : (
                <a href={buildAddress(PATH, { event })}>All kinds</a>
              )
            }
          >
            <Message kind={one} message={message} />
          </Section>
        ))}
      </>
    )
  },
})

/** `monitor.down`, `monitor.down, reminder` */
const namePreview = (name: PreviewName): string =>
  name === 'reminder' ? 'A reminder' : name === DIGEST_EVENT ? 'A digest of many changes' : nameEvent(name)

function Message({ kind, message }: { kind: Kind; message: SampleMessage }) {
  if (kind === 'webhook') return <WebhookMessage message={message} />
  if (kind === 'email') return <MailMessage message={message} />
  const payload = LAYOUTS[kind](message.notice, message.changes, 0)
  return (
    <>
      <ChatMessage kind={kind} payload={payload} />
      <Payload payload={payload} />
    </>
  )
}

const WebhookMessage = ({ message: { envelope } }: { message: SampleMessage }) =>
  envelope === null ? (
    <p>A webhook receives each change separately, and no digest.</p>
  ) : (
    <>
      <p class="soft small">
        <code>POST</code>, signed with the secret of the channel: <code>X-Service-Signature</code>,{' '}
        <code>webhook-signature</code>. A reminder has the header <code>X-Service-Reminder</code>.
      </p>
      <pre>{JSON.stringify(envelope, null, 2)}</pre>
    </>
  )

const Payload = ({ payload }: { payload: object }) => (
  <details class="group">
    <summary>
      <span class="group-title">What is sent</span> <span class="soft small">JSON</span>
    </summary>
    <pre>{JSON.stringify(payload, null, 2)}</pre>
  </details>
)
