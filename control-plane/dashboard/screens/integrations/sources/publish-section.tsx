import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import type { SourceRecord } from './form/source-form.ts'

type PublishProps = { source: SourceRecord; pages: OperationResponse<'listStatusPages'>['data'] }

/** Shows monitors of the source on a status page. */
export const PublishSection = ({
  source,
  pages,
}: {
  source: SourceRecord
  pages: Result<OperationResponse<'listStatusPages'>>
}) =>
  source.fields.length === 0 ? null : (
    <Section id="publish" title="Status page">
      <Loaded result={pages} what="The status pages">
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">There is no status page yet.</p>
          ) : (
            <PublishForm source={source} pages={data} />
          )
        }
      </Loaded>
    </Section>
  )

function PublishForm({ source, pages }: PublishProps) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [pageId, setPageId] = useState(pages[0]!.id)
  const [left, setLeft] = useState<readonly string[]>([])
  const [sentence, setSentence] = useState<string | null>(null)
  const errors = buildFormErrors(error?.details ?? [])
  const fieldIds = source.fields.map(({ id }) => id).filter(id => !left.includes(id))
  const page = pages.find(({ id }) => id === pageId) ?? pages[0]!
  const args = { path: { id: source.id }, body: { status_page_id: page.id, field_ids: fieldIds } }
  const publish = async (event: Event) => {
    event.preventDefault()
    setSentence(null)
    const outcome = await run(() => execute('publishDataSource', args))
    if (!outcome) return
    const count = outcome.data.created_component_ids.length
    setSentence(
      count === 0
        ? `${page.name} shows all of these monitors already.`
        : `${formatCount(count, 'component')} added to ${page.name}.`,
    )
  }
  return (
    <form class="stack" onSubmit={publish}>
      <p>Each monitor becomes a component of the page, unless the page shows it already.</p>
      <SelectField
        path="status_page_id"
        label="Page"
        value={page.id}
        options={pages.map(({ id, name }) => [id, name] as const)}
        errors={errors}
        onChange={setPageId}
      />
      {source.fields.length > 1 &&
        source.fields.map(({ id, path, child_monitors: children }) => (
          <CheckField
            key={id}
            path={`field_ids.${id}`}
            label={path}
            hint={formatCount(children.length, 'monitor')}
            value={!left.includes(id)}
            errors={errors}
            onChange={isWanted => setLeft(isWanted ? left.filter(one => one !== id) : [...left, id])}
          />
        ))}
      <FormMessages error={error} shown={['status_page_id', 'field_ids']} />
      <div class="actions">
        <button type="submit" disabled={isBusy || !isInteractive || fieldIds.length === 0}>
          Publish on the page
        </button>
      </div>
      <AsCall call={call('publishDataSource', args)} />
      <p role="status" dir="auto">
        {sentence}
      </p>
    </form>
  )
}
