import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { Facts, Section } from '../../../parts/layout/section.tsx'
import { ChannelFields, SHOWN_FIELDS } from './channel-fields.tsx'
import { type ChannelRecord, findChannelProblems, isInstalled, toChannelForm, toChannelUpdate } from './channel-form.ts'
import { CHANNEL_KINDS } from './channel-kinds.ts'
import { PausedBanner, SecretSection, TestSection } from './channel-operations.tsx'

/** `/settings/channels/:id` */
export const channelSettingsScreen = screen({
  path: '/settings/channels/:id',
  area: 'alerts',
  record: 'channel',
  queries: ({ params: { id = '' } }) => ({ channel: read('readAlertChannel', { path: { id } }) }),
  title: ({ results }) => results.channel.data!.data.name,
  Body: ({ results }) => {
    const { me, execute, navigate } = useFrame()
    const channel = results.channel.data!.data
    return (
      <>
        <p class="trail">
          <a href="/settings/channels">Channels</a>
        </p>
        <h1 dir="auto">{channel.name}</h1>
        <p class="soft">{CHANNEL_KINDS[channel.type].name}</p>
        {channel.is_paused && <PausedBanner channel={channel} />}
        <ChannelSettings key={channel.id} channel={channel} />
        <Addresses channel={channel} />
        {canWrite(me) && (
          <>
            <TestSection channel={channel} />
            {channel.signing_secret !== null && <SecretSection channel={channel} />}
            <Section id="delete" title="Delete">
              <DeleteForm
                what="channel"
                name={channel.name}
                consequences="Its rules, subscriptions and log entries are deleted too. This cannot be undone."
                remove={() => execute('deleteAlertChannel', { path: { id: channel.id } })}
                onDone={() => navigate('/settings/channels')}
              />
            </Section>
          </>
        )}
      </>
    )
  },
})

function ChannelSettings({ channel }: { channel: ChannelRecord }) {
  const { me, execute, isInteractive } = useFrame()
  const [base, setBase] = useState(channel)
  const [form, setForm] = useState(() => toChannelForm(channel))
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const body = toChannelUpdate(base, form)
  useLeaveQuestion(body !== null)
  const start = (record: ChannelRecord) => {
    setBase(record)
    setForm(toChannelForm(record))
  }
  // a change of another person: shown at once while nothing was typed here
  const isForeign =
    channel.updated_at > base.updated_at && !attempt.isBusy && toChannelUpdate(channel, toChannelForm(base))
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findChannelProblems(form))
    if (problem) return attempt.setError(problem)
    const saved = await attempt.run(async () => {
      const current = await execute('readAlertChannel', { path: { id: channel.id } })
      if ('error' in current || toChannelUpdate(current.data.data, toChannelForm(base))) return current
      return await execute('updateAlertChannel', { path: { id: channel.id }, body: body! })
    })
    // settings that another person changed meanwhile are not overwritten; the banner shows that
    if (saved && !toChannelUpdate(saved.data, form)) start(saved.data)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        {isForeign && (
          <p class="banner" role="alert">
            Another person changed this channel. Nothing of yours is saved.{' '}
            <button type="button" class="plain" onClick={() => start(channel)}>
              Show what is saved now
            </button>
          </p>
        )}
        {isInstalled(channel) && <InstalledFacts config={channel.config} />}
        <ChannelFields
          {...{ form, error: attempt.error, isNew: false, isFixed: isInstalled(channel) }}
          change={part => setForm(current => ({ ...current, ...part }))}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy || body === null || Boolean(isForeign)}>
              Save the changes
            </button>
          </div>
        )}
        {body && <AsCall call={call('updateAlertChannel', { path: { id: channel.id }, body })} />}
      </fieldset>
    </form>
  )
}

const InstalledFacts = ({ config }: { config: ChannelRecord['config'] }) => (
  <Facts
    rows={[
      ['Sent by', 'the installed chat app'],
      ['Channel', String(config.channel_name ?? config.channel_id)],
    ]}
  />
)

/** Which addresses of a mail channel are confirmed. */
const Addresses = ({ channel: { email_addresses: addresses } }: { channel: ChannelRecord }) =>
  addresses && (
    <Section id="addresses" title="Addresses">
      <ul class="list">
        {addresses.map(({ address, status }) => (
          <li key={address}>
            {address}{' '}
            <span class={status === 'confirmed' ? 'soft' : 'degraded'}>
              {status === 'confirmed' ? 'confirmed' : 'not confirmed: alerts are not sent to it'}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
