import { useState } from 'preact/hooks'
import { buildFeedUrl } from '../../../../integrations/vendors/feeds/feed-url.ts'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationArguments, OperationResponse } from '../../../core/operations.ts'
import type { FormAttempt } from '../../../parts/forms/attempt.ts'
import type { FormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { type HeaderRow, PairsField, toPairObject, toPairs } from '../../../parts/forms/pairs-field.tsx'
import { Status } from '../../../parts/status.tsx'
import { type DependencyRecord, FEED_NAMES, SEVERITY_NAMES, STATE_NAMES, toShownStatus } from './dependency-words.ts'

/** The feed of a dependency in the form. `feed_url`: empty when it follows from the address of the page. */
export type FeedForm = {
  status_url: string
  feed_type: (typeof FEED_NAMES)[number][0]
  feed_url: string
  feed_mapping: HeaderRow[]
}

type FeedReport = OperationResponse<'testDependency'>['data']

/** The fields that show their errors themselves. */
export const FEED_FIELDS = ['status_url', 'feed_type', 'feed_url', 'feed_mapping']

export const toFeedForm = ({ status_url, feed_type, feed_url, feed_mapping }: DependencyRecord): FeedForm => ({
  status_url,
  feed_type,
  feed_url: feed_url === buildFeedUrl(status_url, feed_type) ? '' : feed_url,
  feed_mapping: toPairs(feed_mapping),
})

/** The feed as the API accepts it. */
export function toFeedBody({ status_url, feed_type, feed_url, feed_mapping }: FeedForm) {
  const mapping = toPairObject(feed_mapping)
  return {
    ...{ status_url: status_url.trim(), feed_type },
    ...(feed_url.trim() !== '' && { feed_url: feed_url.trim() }),
    ...(feed_type === 'json' && mapping && { feed_mapping: mapping }),
  }
}

/** The changed feed. Null: nothing changed. It is sent whole, because the address of the feed and its paths follow from the others. */
export function toFeedUpdate(stored: DependencyRecord, form: FeedForm) {
  const body = toFeedBody(form)
  if (JSON.stringify(body) === JSON.stringify(toFeedBody(toFeedForm(stored)))) return null
  return { feed_mapping: {}, ...body }
}

/**
 * Reads the feed of the form once, without storing anything. `isRead`: the feed as it is now could be read. `report`: what
 * was read, null after a change of the form.
 */
export function useFeedTest(feed: OperationArguments<'testDependency'>['body'] | null, { run }: FormAttempt) {
  const { execute } = useFrame()
  const [tested, setTested] = useState<{ key: string; report: FeedReport } | null>(null)
  const key = JSON.stringify(feed)
  const report = feed !== null && tested?.key === key ? tested.report : null
  const readFeed = async () => {
    if (feed === null) return
    setTested(null)
    const outcome = await run(() => execute('testDependency', { body: feed }))
    if (outcome) setTested({ key, report: outcome.data })
  }
  return { report, isRead: report !== null && report.error === null, readFeed }
}

/** The address and the kind of a feed. */
export const FeedFields = ({
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
      hint="Only if it differs from the address of the page."
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
  </>
)

/** What a feed reports now. */
export const Report = ({
  report: { error, status, incidents, open_incidents: open, components },
}: {
  report: FeedReport
}) =>
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
