import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, type FormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { type HeaderRow, PairsField, toPairObject } from '../../../parts/forms/pairs-field.tsx'
import { Status } from '../../../parts/status.tsx'
import { FEED_NAMES, SEVERITY_NAMES, STATE_NAMES, toShownStatus } from './dependency-words.ts'

type FeedForm = {
  name: string
  status_url: string
  feed_type: (typeof FEED_NAMES)[number][0]
  feed_url: string
  feed_mapping: HeaderRow[]
}
type FeedReport = OperationResponse<'testDependency'>['data']

const EMPTY: FeedForm = { name: '', status_url: '', feed_type: 'statuspage', feed_url: '', feed_mapping: [] }
const SHOWN_FIELDS = ['name', 'status_url', 'feed_type', 'feed_url', 'feed_mapping']

function toBody({
  name,
  status_url,
  feed_type,
  feed_url,
  feed_mapping,
}: FeedForm): OperationArguments<'createDependency'>['body'] {
  const mapping = toPairObject(feed_mapping)
  const host = URL.canParse(status_url.trim()) ? new URL(status_url.trim()).host : ''
  return {
    ...{ name: name.trim() || host, status_url: status_url.trim(), feed_type },
    ...(feed_url.trim() !== '' && { feed_url: feed_url.trim() }),
    ...(feed_type === 'json' && mapping && { feed_mapping: mapping }),
  }
}

/** Tracks the address of a status page, after its feed was read once. */
export function CustomFeed() {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(EMPTY)
  const [tested, setTested] = useState<{ key: string; report: FeedReport } | null>(null)
  const [isCreated, setCreated] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const body = toBody(form)
  const { name, ...feed } = body
  const key = JSON.stringify(feed)
  const isTested = tested?.key === key && tested.report.error === null
  useLeaveQuestion(!isCreated && JSON.stringify(form) !== JSON.stringify(EMPTY))
  const change = (part: Partial<FeedForm>) => setForm(before => ({ ...before, ...part }))
  const test = async () => {
    setTested(null)
    const outcome = await attempt.run(() => execute('testDependency', { body: feed }))
    if (outcome) setTested({ key, report: outcome.data })
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isTested) return await test()
    const created = await attempt.run(() => execute('createDependency', { body }))
    if (!created) return
    setCreated(true)
    navigate(`/dependencies/${created.data.id}`)
  }
  return (
    <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <FeedFields form={form} errors={errors} change={change} />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="button" class={isTested ? undefined : 'main'} disabled={attempt.isBusy} onClick={test}>
            Read the feed
          </button>
          <button type="submit" class={isTested ? 'main' : undefined} disabled={attempt.isBusy || !isTested}>
            Track it
          </button>
        </div>
      </fieldset>
      {tested?.key === key && <Report report={tested.report} />}
      <AsCall call={call('createDependency', { body })} />
    </form>
  )
}

const FeedFields = ({
  form,
  errors,
  change,
}: {
  form: FeedForm
  errors: FormErrors
  change(part: Partial<FeedForm>): void
}) => (
  <>
    <TextField
      path="status_url"
      label="Address of the status page"
      type="url"
      placeholder="https://status.example.com/"
      value={form.status_url}
      errors={errors}
      onChange={status_url => change({ status_url })}
    />
    <SelectField
      path="feed_type"
      label="Kind of feed"
      value={form.feed_type}
      options={FEED_NAMES}
      errors={errors}
      onChange={feed_type => change({ feed_type })}
    />
    <TextField
      path="feed_url"
      label="Address of the feed"
      type="url"
      hint="When it is another one than that of the page."
      value={form.feed_url}
      errors={errors}
      onChange={feed_url => change({ feed_url })}
    />
    {form.feed_type === 'json' && (
      <PairsField
        path="feed_mapping"
        label="Paths in the document, such as incidents and data.items, or title and name"
        pairs={form.feed_mapping}
        errors={errors}
        onChange={feed_mapping => change({ feed_mapping })}
      />
    )}
    <TextField
      path="name"
      label="Name"
      placeholder={toBody({ ...form, name: '' }).name || undefined}
      value={form.name}
      errors={errors}
      onChange={name => change({ name })}
    />
  </>
)

/** What a feed reports now. */
const Report = ({ report: { error, status, incidents, open_incidents: open, components } }: { report: FeedReport }) =>
  error !== null ? (
    <p class="down" role="alert">
      The feed cannot be read: <bdi>{error}</bdi>.
    </p>
  ) : (
    <div class="stack" role="status">
      <p>
        {status !== null && <Status status={toShownStatus(status)} />} The feed can be read.{' '}
        {open === 0 ? 'It reports no open incident.' : `It reports ${formatCount(open, 'open incident')}.`}{' '}
        {components.length > 0 && `It lists ${formatCount(components.length, 'component')}.`}
      </p>
      {incidents.length > 0 && (
        <ul class="list">
          {incidents.map(({ title, severity, status: state }, i) => (
            <li key={i}>
              <span dir="auto">{title}</span>{' '}
              <span class="soft small">
                {SEVERITY_NAMES[severity]}, {STATE_NAMES[state].toLowerCase()}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
