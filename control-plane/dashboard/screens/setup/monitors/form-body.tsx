import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatDuration } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import type { DataQuery, OperationError } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import type { FormAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FixedField } from '../../../parts/forms/fields.tsx'
import { FieldGroups } from './fields/field-groups.tsx'
import type { GroupOptions } from './fields/group-props.ts'
import { GuaranteeNote } from './fields/guarantee.tsx'
import {
  AddressField,
  HeartbeatFields,
  IntervalField,
  KeywordFields,
  listLiveRegions,
  NameField,
  type RegionRecord,
  RegionsField,
} from './fields/main-fields.tsx'
import { TypeField } from './fields/type-field.tsx'
import { LABELS } from './state/differences.ts'
import { findFormProblems, toCreateBody } from './state/monitor-body.ts'
import type { MonitorForm } from './state/monitor-form.ts'
import { applyProposals, type FormInput } from './state/proposals.ts'
import { type TestResult, TestResults } from './try-it.tsx'

/** The fields that show their own errors. */
export const SHOWN_FIELDS = Object.keys(LABELS)

type FormBodyProps = Omit<GroupOptions, 'errors'> & {
  isNew: boolean
  /** of the last attempt to save */
  error: OperationError | null
  regions: readonly RegionRecord[] | null
  onLines?: (lines: string[]) => void
}

/** All fields of a monitor, in the order in which they are filled in. */
export function MonitorFormFields({ error, regions, onLines, isNew, ...state }: FormBodyProps) {
  const props: GroupOptions = { ...state, errors: buildFormErrors(error?.details ?? []) }
  const isHeartbeat = state.form.type === 'heartbeat'
  const isFixed = isHeartbeat && !isNew
  return (
    <>
      {isFixed ? (
        <FixedField label="What is checked" value="Heartbeat" />
      ) : (
        <TypeField {...props} withHeartbeat={isNew} />
      )}
      {!isHeartbeat && <AddressField {...props} onLines={onLines} />}
      {state.form.type === 'keyword' && <KeywordFields {...props} />}
      <NameField {...props} />
      {isFixed && <FixedTimes form={state.form} />}
      {isHeartbeat && isNew && <HeartbeatFields {...props} />}
      {!isHeartbeat && <IntervalField {...props} />}
      {!isHeartbeat && <RegionsField {...props} regions={regions} />}
      <FieldGroups {...props} isNew={isNew} />
    </>
  )
}

function FixedTimes({ form }: { form: MonitorForm }) {
  const format = (seconds: string) => (seconds === '' ? 'not set' : formatDuration(Number(seconds) * 1_000))
  const why = 'Fixed. A copy can have another one.'
  return (
    <>
      <FixedField label={LABELS.heartbeat_interval} value={format(form.heartbeat_interval)} why={why} />
      <FixedField label={LABELS.heartbeat_grace} value={format(form.heartbeat_grace)} why={why} />
    </>
  )
}

/** The test of the settings as they are in the form. `attempt`: of the whole form, so that errors are shown at their fields. */
export function useTest(form: MonitorForm, regions: readonly RegionRecord[] | null, attempt: FormAttempt) {
  const { execute } = useFrame()
  const [isBusy, setBusy] = useState(false)
  const [tested, setTested] = useState<{ key: string; results: TestResult[] } | null>(null)
  const complete = applyProposals(form, listLiveRegions(regions))
  const body = toCreateBody({ ...complete, name: complete.name.trim() || 'Test' })
  const key = toTestKey(body)
  const run = async () => {
    const problem = toFormError(findFormProblems(form))
    attempt.setError(problem)
    setTested(null)
    if (problem || isBusy) return
    setBusy(true)
    const outcome = await execute('testMonitor', { body })
    setBusy(false)
    if ('error' in outcome) attempt.setError(outcome.error)
    else setTested({ key, results: outcome.data.data.results })
  }
  // results of other settings say nothing about these
  return { isBusy, results: tested?.key === key ? tested.results : null, regions: complete.regions, run }
}

/** The same for settings that are checked in the same way: names and tags have no effect. */
export const toTestKey = ({ name: _, tags: __, ...checked }: ReturnType<typeof toCreateBody>): string =>
  JSON.stringify(checked)

/** What the settings mean: the results of a test, the guarantee, and the call of the API that does the same. */
export const FormConsequences = ({
  form,
  test,
  call,
  children,
}: {
  form: FormInput
  test: Pick<ReturnType<typeof useTest>, 'isBusy' | 'results' | 'regions'>
  call: DataQuery
  children?: ComponentChildren
}) => (
  <div class="consequences">
    {(test.isBusy || test.results) && (
      <TestResults regions={test.regions} results={test.isBusy ? null : test.results} />
    )}
    <GuaranteeNote form={form} />
    {children}
    <AsCall call={call} />
  </div>
)
