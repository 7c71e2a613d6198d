import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type Execute, type OperationError, type Outcome } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { TextAreaField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { FieldGroups } from './fields/field-groups.tsx'
import type { GroupOptions } from './fields/group-props.ts'
import { IntervalField, KeywordFields, type RegionRecord, RegionsField } from './fields/main-fields.tsx'
import { TypeField } from './fields/type-field.tsx'
import { SHOWN_FIELDS } from './form-body.tsx'
import { type CreateBody, findSharedProblems, toCreateBodies } from './state/monitor-body.ts'
import type { MonitorForm } from './state/monitor-form.ts'
import { completeAddress, type FormInput, parseAddressLines, proposeName } from './state/proposals.ts'

/** The API accepts so many monitors in one call. */
const MAX_IN_ONE_CALL = 50

/** What became of a line. */
type LineResult = { url: string; name: string } & ({ id: string } | { problem: string })

/** Many addresses with the same settings. Each line has its own result; lines that failed stay to be corrected. */
export function BulkCreate({
  lines,
  form,
  regions,
  change,
  onCancel,
}: {
  lines: string[]
  form: FormInput
  regions: RegionRecord[] | null
  change(part: Partial<MonitorForm>): void
  onCancel(): void
}) {
  const { execute, isInteractive } = useFrame()
  const [text, setText] = useState(lines.join('\n'))
  const [results, setResults] = useState<LineResult[]>([])
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const items = parseAddressLines(text).map(line => {
    const url = completeAddress(form.type, line)
    return { url, name: proposeName({ type: form.type, url }) }
  })
  useLeaveQuestion(items.length > 0)
  const props: GroupOptions = { form, change, errors: buildFormErrors(attempt.error?.details ?? []) }
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findSharedProblems(form))
    if (problem) return attempt.setError(problem)
    const made = await attempt.run(() => createAll(execute, items, toCreateBodies(form, items)))
    if (!made) return
    setResults(current => [...current.filter(one => 'id' in one), ...made.results])
    setText(
      made.results
        .flatMap(one => ('problem' in one ? [one.url] : []))
        .concat(made.left)
        .join('\n'),
    )
    attempt.setError(made.error)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <TypeField {...props} withHeartbeat={false} />
        <TextAreaField
          path="monitors"
          label="Addresses, one on each line"
          rows={Math.min(16, Math.max(6, items.length + 1))}
          value={text}
          errors={props.errors}
          hint="The name of each monitor is made from its address."
          onChange={setText}
        />
        {form.type === 'keyword' && <KeywordFields {...props} />}
        <IntervalField {...props} />
        <RegionsField {...props} regions={regions} />
        <FieldGroups {...props} isNew />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy || items.length === 0}>
            Create {formatCount(items.length, 'monitor')}
          </button>
          <button type="button" onClick={onCancel}>
            One monitor only
          </button>
        </div>
        {items.length > 0 && (
          <AsCall
            call={call('createMonitors', { body: { monitors: toCreateBodies(form, items).slice(0, MAX_IN_ONE_CALL) } })}
          />
        )}
      </fieldset>
      <Results results={results} />
    </form>
  )
}

type Item = { url: string; name: string }
type CreateOutcome = { results: LineResult[]; left: string[]; error: OperationError | null }

/** Creates in calls of 50. After a call that failed the other lines are left, with its error. */
async function createAll(execute: Execute, items: Item[], bodies: CreateBody[]): Promise<Outcome<CreateOutcome>> {
  const results: LineResult[] = []
  for (let from = 0; from < items.length; from += MAX_IN_ONE_CALL) {
    const part = items.slice(from, from + MAX_IN_ONE_CALL)
    const outcome = await execute('createMonitors', { body: { monitors: bodies.slice(from, from + MAX_IN_ONE_CALL) } })
    if ('error' in outcome)
      return { data: { results, left: items.slice(from).map(({ url }) => url), error: outcome.error } }
    results.push(...toLineResults(part, outcome.data))
  }
  return { data: { results, left: [], error: null } }
}

/** The created monitors are in the order of the items that have no error. */
export function toLineResults(
  items: readonly Item[],
  { monitors, errors }: { monitors: readonly { id: string }[]; errors: readonly { index: number; error: string }[] },
): LineResult[] {
  const problems = new Map(errors.map(({ index, error }) => [index, error]))
  let next = 0
  return items.map((item, i) => {
    const problem = problems.get(i)
    return problem === undefined ? { ...item, id: monitors[next++]!.id } : { ...item, problem }
  })
}

function describeResults(results: readonly LineResult[]): string {
  const refused = results.filter(one => 'problem' in one).length
  return `${formatCount(results.length - refused, 'monitor')} created${refused > 0 ? `, ${refused} not` : ''}`
}

const Results = ({ results }: { results: readonly LineResult[] }) => (
  <div class="consequences" role="status">
    {results.length > 0 && (
      <>
        <h2>{describeResults(results)}</h2>
        <ul class="list">
          {results.map(result => (
            <li key={result.url}>
              {'id' in result ? (
                <a href={`/monitors/${result.id}`}>{result.name}</a>
              ) : (
                <>
                  <span class="mono">{result.url}</span>
                  <br />
                  <span class="wrong">{result.problem}.</span>
                </>
              )}
            </li>
          ))}
        </ul>
      </>
    )}
  </div>
)
