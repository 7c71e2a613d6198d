import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { Section } from '../../../../parts/layout/section.tsx'
import { Status } from '../../../../parts/status.tsx'
import { DocumentTree } from '../document/document-tree.tsx'
import { proposeFields } from '../document/proposal.ts'
import { ProposalPanel, type ValueChoice } from '../document/proposal-panel.tsx'
import type { DocumentSteps } from '../document/tree-rows.ts'
import { NEW_FIELD, toProposedForm } from './field-form.ts'
import { RuleFields } from './rule-fields.tsx'
import { type SourceDocument, useVerdicts } from './source-document.ts'
import { nextPlace, type useSourceEditing } from './source-editing.ts'
import type { SourceForm, SourceRecord } from './source-form.ts'
import { VerdictTable } from './verdict-table.tsx'

type RuleListProps = {
  form: SourceForm
  errors: FormErrors
  change(part: Partial<SourceForm>): void
}

/** The document with its rules at its side, and the monitors that they make. */
export function SourceRules({
  source,
  editing: { form, change, chosen, setChosen, wanted },
  fetched,
  errors,
}: {
  source: SourceRecord | null
  editing: ReturnType<typeof useSourceEditing>
  fetched: SourceDocument
  errors: FormErrors
}) {
  const { me, nowMs } = useFrame()
  const { fields } = wanted
  const current = useVerdicts(fetched, form, fields, source?.id ?? null)
  const choose = (steps: DocumentSteps, id: string) => {
    const found = proposeFields(fetched.preview?.document, steps, nowMs)
    setChosen('problem' in found ? { id, ...found } : { id, candidates: found.candidates, at: 0 })
  }
  const setFields = (next: SourceForm['fields']) => {
    change({ fields: next })
    setChosen(null)
  }
  const children = current.verdicts?.children
  return (
    <>
      <div class="source-columns">
        <DocumentSection fetched={fetched} chosen={chosen?.id ?? null} onChoose={canWrite(me) ? choose : undefined} />
        <Section id="rules" title="Rules">
          {chosen && (
            <ProposalPanel
              chosen={chosen}
              onChange={at => setChosen({ ...chosen, at } as ValueChoice)}
              onAdd={() => setFields(fields)}
              onCancel={() => setChosen(null)}
            />
          )}
          <RuleList
            {...{ form, errors, change }}
            count={i => children?.filter(child => child.field_index === i).length ?? null}
            onAdd={() => setFields([...form.fields, toProposedForm(NEW_FIELD, nextPlace(form))])}
          />
        </Section>
      </div>
      <Section id="monitors" title="Monitors">
        {current.verdicts ? (
          <VerdictTable
            verdicts={current.verdicts}
            getMonitorId={(i, key) => findMonitorId(source, fields[i]?.id ?? null, key)}
          />
        ) : (
          <StoredMonitors source={source} />
        )}
        <p class="soft" role="status">
          {current.isLate && 'The server evaluates the rules …'}
        </p>
        {current.error && (
          <p class="wrong" role="alert">
            {current.error.message}.
          </p>
        )}
      </Section>
    </>
  )
}

function findMonitorId(source: SourceRecord | null, fieldId: string | null, key: string): string | null {
  const field = source?.fields.find(({ id }) => id === fieldId)
  return field?.child_monitors.find(child => child.key === key)?.monitor_id ?? null
}

function RuleList({
  form: { fields },
  errors,
  change,
  count,
  onAdd,
}: RuleListProps & { count(index: number): number | null; onAdd(): void }) {
  const { me, isInteractive } = useFrame()
  return (
    <fieldset class="plain" disabled={!isInteractive || !canWrite(me)}>
      {fields.map((field, i) => (
        <RuleFields
          key={field.place}
          field={field}
          index={i}
          count={count(i)}
          errors={errors}
          isOpen={field.id === null}
          change={part => change({ fields: fields.map((one, at) => (at === i ? { ...one, ...part } : one)) })}
          onRemove={canWrite(me) ? () => change({ fields: fields.filter((_, at) => at !== i) }) : undefined}
        />
      ))}
      {canWrite(me) && (
        <div class="actions">
          <button type="button" onClick={onAdd}>
            Add a rule by hand
          </button>
        </div>
      )}
    </fieldset>
  )
}

function DocumentSection({
  fetched: { preview, isOld, count, attempt },
  chosen,
  onChoose,
}: {
  fetched: SourceDocument
  chosen: string | null
  onChoose?: (steps: DocumentSteps, id: string) => void
}) {
  return (
    <Section id="document" title="Document">
      <p class="soft" role="status">
        {attempt.isBusy
          ? 'The document is fetched …'
          : isOld
            ? 'The request was changed. Fetch the document again to see what it answers now.'
            : preview?.failure
              ? null
              : preview
                ? 'Choose a value to make monitors of it and of the values like it.'
                : 'The document appears here after it is fetched.'}
      </p>
      {preview?.failure && (
        <p class="missing" role="alert">
          The document could not be fetched: <bdi>{preview.failure.message}</bdi>.
        </p>
      )}
      {preview?.document_note && (
        <p class="missing">Only a part is shown: {preview.document_note}. Rules are evaluated on the whole document.</p>
      )}
      {preview && !preview.failure && (
        <DocumentTree key={count} document={preview.document} chosen={chosen} onChoose={onChoose} />
      )}
    </Section>
  )
}

/** The monitors as they are stored, while there is no document to evaluate. */
function StoredMonitors({ source }: { source: SourceRecord | null }) {
  const children = source?.fields.flatMap(field => field.child_monitors) ?? []
  if (children.length === 0) return <p class="soft">The monitors of the rules appear here.</p>
  return (
    <ul class="list">
      {children.map(({ monitor_id: id, name, status }) => (
        <li key={id}>
          <Status status={status ?? 'unknown'} />{' '}
          <a href={`/monitors/${id}`} dir="auto">
            {name}
          </a>
        </li>
      ))}
    </ul>
  )
}
