import { useEffect, useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, type FormErrors } from '../../../parts/forms/field-errors.ts'
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
  const [groupId, setGroupId] = useState<string | null>(null)
  const [left, setLeft] = useState<readonly string[]>([])
  const [sentence, setSentence] = useState<string | null>(null)
  const errors = buildFormErrors(error?.details ?? [])
  const fieldIds = source.fields.map(({ id }) => id).filter(id => !left.includes(id))
  const page = pages.find(({ id }) => id === pageId) ?? pages[0]!
  const body = { status_page_id: page.id, ...(groupId !== null && { group_id: groupId }), field_ids: fieldIds }
  const args = { path: { id: source.id }, body }
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
        onChange={id => {
          setPageId(id)
          setGroupId(null)
        }}
      />
      <GroupChoice key={page.id} pageId={page.id} value={groupId} errors={errors} onChange={setGroupId} />
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
      <FormMessages error={error} shown={['status_page_id', 'group_id', 'field_ids']} />
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

/** The group of the page in which the components are shown. Nothing is shown for a page without groups. */
function GroupChoice({
  pageId,
  value,
  errors,
  onChange,
}: {
  pageId: string
  value: string | null
  errors: FormErrors
  onChange(groupId: string | null): void
}) {
  const { execute } = useFrame()
  const [groups, setGroups] = useState<OperationResponse<'listStatusPageGroups'>['data']>([])
  useEffect(() => {
    // `execute` is another function after each render
    execute('listStatusPageGroups', { path: { id: pageId }, query: { per_page: 100 } }).then(outcome => {
      if ('data' in outcome) setGroups(outcome.data.data)
    })
  }, [pageId])
  if (groups.length === 0) return null
  return (
    <SelectField
      path="group_id"
      label="Group of the page"
      value={value ?? ''}
      options={[['', 'No group'], ...groups.map(({ id, name }) => [id, name] as const)]}
      errors={errors}
      onChange={id => onChange(id === '' ? null : id)}
    />
  )
}
