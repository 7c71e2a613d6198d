import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Subscriptions } from './subscriptions.tsx'

const PATH = '/settings/alerts'

type Settings = OperationResponse<'readAlertSettings'>['data']
type Member = OperationResponse<'listMembers'>['data'][number]

/** How alerts of the whole project are sent. */
export const alertSettingsScreen = screen({
  path: PATH,
  area: 'alerts',
  queries: () => ({
    settings: read('readAlertSettings', {}),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
    subscriptions: read('listAlertProjectChannels', { query: { per_page: 100 } }),
    members: read('listMembers', { query: { per_page: 100 } }),
  }),
  title: () => 'Alert settings',
  Body: ({ results }) => {
    const members = results.members.data?.data ?? null
    return (
      <>
        <h1>Alert settings</h1>
        <AreaTabs area="alerts" current={PATH} />
        <NeedsRole what="Changing the alert settings" needed="editor" />
        <Section id="digests" title="Digests and the person on call">
          <NeedsScript
            what="Changing these settings"
            call={call('updateAlertSettings', { body: { is_digest_enabled: true, digest_threshold: 10 } })}
          />
          <Loaded result={results.settings} what="The settings">
            {({ data }) => <SettingsForm settings={data} members={members} />}
          </Loaded>
        </Section>
        <Section id="subscriptions" title="Events of the whole project">
          <Loaded result={results.channels} what="The channels">
            {channels => (
              <Loaded result={results.subscriptions} what="The subscriptions">
                {subscriptions => <Subscriptions channels={channels} subscriptions={subscriptions} />}
              </Loaded>
            )}
          </Loaded>
        </Section>
        <Section id="reminders" title="Reminders">
          <p>
            A reminder repeats the alert while a monitor is down and its incident is not acknowledged. It is set for
            each channel in the settings of a monitor, below “Alerts”. <a href="/monitors">Monitors</a>
          </p>
        </Section>
      </>
    )
  },
})

/** Values as a form has them. `threshold`: a number as text. */
type Form = { isEnabled: boolean; threshold: string; onCall: string }

const toForm = (settings: Settings): Form => ({
  isEnabled: settings.is_digest_enabled,
  threshold: String(settings.digest_threshold),
  onCall: settings.on_call_user_id ?? '',
})

/** The fields that differ from the stored settings; null without a difference. */
export function toSettingsChange(
  stored: Settings,
  { isEnabled, threshold, onCall }: Form,
): NonNullable<OperationArguments<'updateAlertSettings'>['body']> | null {
  const change = {
    ...(isEnabled !== stored.is_digest_enabled && { is_digest_enabled: isEnabled }),
    ...(threshold !== String(stored.digest_threshold) && { digest_threshold: Number(threshold) }),
    ...((onCall || null) !== stored.on_call_user_id && { on_call_user_id: onCall || null }),
  }
  return Object.keys(change).length === 0 ? null : change
}

function SettingsForm({ settings, members }: { settings: Settings; members: readonly Member[] | null }) {
  const { me, execute, isInteractive } = useFrame()
  const editing = useStoredForm(settings, {
    toForm,
    toBody: toSettingsChange,
    read: () => execute('readAlertSettings', {}),
    send: body => execute('updateAlertSettings', { body }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const submit = (event: Event) => {
    event.preventDefault()
    void editing.save()
  }
  return (
    <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <ForeignChange what="these settings" form={editing} />
        <CheckField
          {...{ path: 'is_digest_enabled', label: 'Combine many alerts into one message', errors }}
          hint="For chats and email. Webhooks always receive each event."
          value={form.isEnabled}
          onChange={isEnabled => change({ isEnabled })}
        />
        {form.isEnabled && (
          <TextField
            {...{
              path: 'digest_threshold',
              label: 'Monitors that may change in a minute',
              value: form.threshold,
              errors,
            }}
            type="number"
            hint="Up to this number, alerts are sent one by one. Above it, one message lists them all."
            onChange={threshold => change({ threshold })}
          />
        )}
        <SelectField
          {...{ path: 'on_call_user_id', label: 'Person on call', value: form.onCall, errors }}
          options={listPeople(members, editing.base.on_call_user_id)}
          hint="Gets a direct message in the chat when an incident opens. Needs the chat app."
          onChange={onCall => change({ onCall })}
        />
        <FormMessages error={attempt.error} shown={['is_digest_enabled', 'digest_threshold', 'on_call_user_id']} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              Save the changes
            </button>
            <span role="status">{editing.isSaved && 'Saved.'}</span>
          </div>
        )}
        {body !== null && <AsCall call={call('updateAlertSettings', { body })} />}
      </fieldset>
    </form>
  )
}

/** No member, and the members. Only admins read members; for others a chosen one has no name. */
function listPeople(members: readonly Member[] | null, chosen: string | null): [string, string][] {
  const known = (members ?? []).map(({ user_id: id, email }): [string, string] => [id, email])
  const isKnown = chosen === null || known.some(([id]) => id === chosen)
  return [['', 'None'], ...known, ...(isKnown ? [] : [[chosen, 'A member'] satisfies [string, string]])]
}
