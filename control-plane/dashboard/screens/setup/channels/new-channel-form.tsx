import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { Secret } from '../../../parts/copy-button.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { CheckField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { alertAll, describeAlertAll } from '../start/alert-all.ts'
import { ChannelFields, SHOWN_FIELDS } from './channel-fields.tsx'
import { type ChannelForm, type ChannelRecord, findChannelProblems, toChannelBody } from './channel-form.ts'
import { type UnstoredTest, UnstoredTestResult } from './channel-test.tsx'

/**
 * Creates a channel, after a test if one is wanted. `unalerted`: the number of active monitors without an alert channel, about which
 * the channel can be alerted. `buildNextPath`: the page that follows, from the id of the channel.
 */
export function NewChannel({
  start,
  unalerted,
  buildNextPath,
  onCreated,
}: {
  start: ChannelForm
  unalerted: number
  buildNextPath(id: string): string
  onCreated?(): void
}) {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(start)
  const [test, setTest] = useState<{ of: string; result: UnstoredTest } | null>(null)
  const [created, setCreated] = useState<CreatedChannel | null>(null)
  const [alertsAll, setAlertsAll] = useState(true)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(created === null && JSON.stringify(form) !== JSON.stringify(start))
  if (created) {
    const nextPath = buildNextPath(created.channel.id)
    return <Created {...created} nextPath={nextPath} onCopied={() => navigate(nextPath)} />
  }
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
    const sent = await attempt.run(() => execute('testUnstoredAlertChannel', { body }))
    if (sent) setTest({ of: JSON.stringify(body), result: sent.data })
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (findProblem()) return
    const channel = (await attempt.run(() => execute('createAlertChannel', { body })))?.data
    if (!channel) return
    const isWanted = alertsAll && unalerted > 0
    // the secret is shown before anything else is sent, and the form cannot be sent again
    setCreated({ channel, sentence: isWanted ? 'Its alert rules are being added.' : null, isDone: !isWanted })
    onCreated?.()
    if (isWanted) {
      setCreated({ channel, sentence: describeOutcome(channel, await alertAll(execute, channel.id)), isDone: true })
    } else if (!channel.signing_secret) navigate(buildNextPath(channel.id))
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <ChannelFields {...{ form, change, error: attempt.error, isNew: true, isFixed: false }} />
        {unalerted > 0 && (
          <CheckField
            path="alerts_all"
            label={`Alert this channel about ${formatCount(unalerted, 'active monitor')} without a channel`}
            hint="Each gets a rule for outages and recoveries."
            value={alertsAll}
            errors={buildFormErrors([])}
            onChange={setAlertsAll}
          />
        )}
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
        {test?.of === JSON.stringify(body) && <UnstoredTestResult test={test.result} />}
        <AsCall calls={buildCalls(body)} />
      </div>
    </form>
  )
}

const buildCalls = (body: ReturnType<typeof toChannelBody>) => ({
  channel: call('createAlertChannel', { body }),
  test: call('testUnstoredAlertChannel', { body }),
})

/** `sentence`: what is done about monitors without an alert channel. `isDone`: nothing of it is sent any more. */
type CreatedChannel = { channel: ChannelRecord; sentence: string | null; isDone: boolean }

const describeOutcome = ({ name }: ChannelRecord, outcome: Awaited<ReturnType<typeof alertAll>>): string =>
  'data' in outcome
    ? describeAlertAll(name, outcome.data.data)
    : `It is not yet alerted about existing monitors: ${outcome.error.message}.`

/** After the creation: what was done, and the only time that the secret of a signed channel is shown. */
const Created = ({
  channel,
  sentence,
  isDone,
  nextPath,
  onCopied,
}: CreatedChannel & { nextPath: string; onCopied(): void }) => (
  <div class="stack created">
    <p role="status">
      The channel <b dir="auto">{channel.name}</b> is created. <bdi>{sentence}</bdi>
    </p>
    {channel.email_addresses?.some(({ status }) => status === 'unconfirmed') && (
      <p class="degraded">
        Its addresses got a message with a link. Alerts are sent to an address when its owner has opened the link.
      </p>
    )}
    {channel.signing_secret && (
      <Secret
        label="The signing secret, with which your receiver verifies each request. It is shown only now."
        value={channel.signing_secret}
      />
    )}
    {isDone && (
      <p>
        {channel.signing_secret ? (
          <button type="button" class="main" onClick={onCopied}>
            I have copied it
          </button>
        ) : (
          <a class="button main" href={nextPath}>
            Continue
          </a>
        )}
      </p>
    )}
  </div>
)
