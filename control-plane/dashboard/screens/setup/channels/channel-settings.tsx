import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { Facts, Section } from '../../../parts/layout/section.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { buildReferenceReads, DeleteChannel } from './channel-deletion.tsx'
import { ChannelFields, SHOWN_FIELDS } from './channel-fields.tsx'
import { type ChannelRecord, findChannelProblems, isInstalled, toChannelForm, toChannelUpdate } from './channel-form.ts'
import { CHANNEL_KINDS } from './channel-kinds.ts'
import { PausedBanner, SecretSection, TestSection } from './channel-operations.tsx'

/** `/settings/channels/:id` */
export const channelSettingsScreen = screen({
  path: '/settings/channels/:id',
  area: 'alerts',
  record: 'channel',
  queries: ({ params: { id = '' } }, _nowMs, me) => ({
    channel: read('readAlertChannel', { path: { id } }),
    ...(canWrite(me) && buildReferenceReads(id)),
  }),
  title: ({ results }) => results.channel.data!.data.name,
  Body: ({ results }) => {
    const { me } = useFrame()
    const channel = results.channel.data!.data
    return (
      <>
        <p class="trail">
          <a href="/settings/channels">Channels</a>
        </p>
        <h1 dir="auto">{channel.name}</h1>
        <p class="soft">{CHANNEL_KINDS[channel.type].name}</p>
        <NeedsRole what="Changing, testing and deleting the channel" needed="editor" />
        {channel.is_paused && <PausedBanner channel={channel} />}
        <ChannelSettings key={channel.id} channel={channel} />
        <Addresses channel={channel} />
        {canWrite(me) && (
          <>
            <TestSection channel={channel} />
            {channel.signing_secret !== null && <SecretSection channel={channel} />}
            <DeleteChannel channel={channel} references={results} />
          </>
        )}
      </>
    )
  },
})

function ChannelSettings({ channel }: { channel: ChannelRecord }) {
  const { me, execute, isInteractive } = useFrame()
  const path = { id: channel.id }
  const editing = useStoredForm(channel, {
    toForm: toChannelForm,
    toBody: toChannelUpdate,
    read: () => execute('readAlertChannel', { path }),
    send: (body, headers) => execute('updateAlertChannel', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const submit = (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findChannelProblems(form))
    if (problem) return attempt.setError(problem)
    void editing.save()
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <ForeignChange what="this channel" form={editing} />
        {isInstalled(channel) && <InstalledFacts config={channel.config} />}
        <ChannelFields
          {...{ form, error: attempt.error, isNew: false, isFixed: isInstalled(channel) }}
          change={change}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              Save the changes
            </button>
          </div>
        )}
        {body && <AsCall call={call('updateAlertChannel', { path, body })} />}
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
