import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { screen } from '../../../core/screen.ts'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { AsCall, NeedsScript, toCurl } from '../../../parts/forms/curl.tsx'
import { toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { Secret } from '../../../parts/forms/secret.tsx'
import { ChannelFields, SHOWN_FIELDS } from './channel-fields.tsx'
import {
  type ChannelForm,
  type ChannelRecord,
  EMPTY_CHANNEL,
  findChannelProblems,
  toChannelBody,
} from './channel-form.ts'
import { CHANNEL_TYPES } from './channel-kinds.ts'
import { type UnstoredTest, UnstoredTestResult } from './channel-test.tsx'

const EXAMPLE = toCurl('POST', '/alerts/channels', {
  name: 'On call',
  type: 'email',
  config: { to: ['oncall@example.com'] },
  is_default: true,
})

/** `/settings/channels/new`, also with `?type=`. */
export const newChannelScreen = screen({
  path: '/settings/channels/new',
  area: 'settings',
  queries: () => ({}),
  title: () => 'New channel',
  Body: ({ search }) => {
    const { me } = useFrame()
    const type = CHANNEL_TYPES.find(one => one === search.get('type')) ?? EMPTY_CHANNEL.type
    return (
      <>
        <p class="trail">
          <a href="/settings/channels">Channels</a>
        </p>
        <h1>New channel</h1>
        <NeedsScript what="Creating a channel" command={EXAMPLE} />
        {canWrite(me) ? (
          <NewChannel key={type} start={{ ...EMPTY_CHANNEL, type }} />
        ) : (
          <p class="missing">Your role can see channels, but not create them.</p>
        )}
      </>
    )
  },
})

function NewChannel({ start }: { start: ChannelForm }) {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(start)
  const [test, setTest] = useState<UnstoredTest | null>(null)
  const [created, setCreated] = useState<ChannelRecord | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(created === null && JSON.stringify(form) !== JSON.stringify(start))
  if (created?.signing_secret) return <Created channel={created} secret={created.signing_secret} />
  const body = toChannelBody(form)
  const change = (part: Partial<ChannelForm>) => setForm(current => ({ ...current, ...part }))
  const findProblem = () => {
    const problem = toFormError(findChannelProblems(form))
    attempt.setError(problem)
    return problem
  }
  const sendTest = async () => {
    setTest(null)
    if (findProblem()) return
    setTest((await attempt.run(() => execute('testUnstoredAlertChannel', { body })))?.data ?? null)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (findProblem()) return
    const outcome = await attempt.run(() => execute('createAlertChannel', { body }))
    if (!outcome) return
    setCreated(outcome.data)
    if (!outcome.data.signing_secret) navigate(`/settings/channels/${outcome.data.id}`)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <ChannelFields {...{ form, change, error: attempt.error, isNew: true, isFixed: false }} />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Create the channel
          </button>
          <button type="button" disabled={attempt.isBusy} onClick={sendTest}>
            Send a test
          </button>
        </div>
      </fieldset>
      <div class="consequences">
        {test && <UnstoredTestResult test={test} />}
        <AsCall command={toCurl('POST', '/alerts/channels', body)} />
      </div>
    </form>
  )
}

/** After the creation of a signed channel: the only time that its secret is shown. */
const Created = ({ channel, secret }: { channel: ChannelRecord; secret: string }) => (
  <div class="stack created">
    <p role="status">
      The channel <b dir="auto">{channel.name}</b> is created.
    </p>
    <Secret
      label="The signing secret, with which your receiver verifies each request. It is shown only now."
      value={secret}
    />
    <p>
      <a class="button main" href={`/settings/channels/${channel.id}`}>
        I have copied it
      </a>
    </p>
  </div>
)
