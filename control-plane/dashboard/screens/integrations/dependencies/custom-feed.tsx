import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { FEED_FIELDS, FeedFields, type FeedForm, Report, toFeedBody, useFeedTest } from './feed-form.tsx'

type NamedFeedForm = FeedForm & { name: string }

const EMPTY: NamedFeedForm = { name: '', status_url: '', feed_type: 'statuspage', feed_url: '', feed_mapping: [] }

function toBody(form: NamedFeedForm): OperationArguments<'createDependency'>['body'] {
  const feed = toFeedBody(form)
  const host = URL.canParse(feed.status_url) ? new URL(feed.status_url).host : ''
  return { name: form.name.trim() || host, ...feed }
}

/** Tracks the address of a status page, after its feed was read once. */
export function CustomFeed() {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(EMPTY)
  const [isCreated, setCreated] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const body = toBody(form)
  const { name, ...feed } = body
  const { report, isRead, readFeed } = useFeedTest(feed, attempt)
  useLeaveQuestion(!isCreated && JSON.stringify(form) !== JSON.stringify(EMPTY))
  const change = (part: Partial<NamedFeedForm>) => setForm(before => ({ ...before, ...part }))
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isRead) return await readFeed()
    const created = await attempt.run(() => execute('createDependency', { body }))
    if (!created) return
    setCreated(true)
    navigate(`/dependencies/${created.data.id}`)
  }
  return (
    <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <FeedFields form={form} errors={errors} change={change} />
        <TextField
          path="name"
          label="Name"
          placeholder={toBody({ ...form, name: '' }).name || undefined}
          value={form.name}
          errors={errors}
          onChange={name => change({ name })}
        />
        <FormMessages error={attempt.error} shown={['name', ...FEED_FIELDS]} />
        <div class="actions">
          <button type="button" class={isRead ? undefined : 'main'} disabled={attempt.isBusy} onClick={readFeed}>
            Read the feed
          </button>
          <button type="submit" class={isRead ? 'main' : undefined} disabled={attempt.isBusy || !isRead}>
            Track it
          </button>
        </div>
      </fieldset>
      {report && <Report report={report} />}
      <AsCall call={call('createDependency', { body })} />
    </form>
  )
}
