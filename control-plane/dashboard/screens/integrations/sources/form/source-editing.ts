import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import type { Execute, OperationArguments, Outcome } from '../../../../core/operations.ts'
import { type FormAttempt, useAttempt } from '../../../../parts/forms/attempt.ts'
import { isCountConfirmed } from '../../../../parts/forms/delete-form.tsx'
import { type FieldProblem, toFormError } from '../../../../parts/forms/field-errors.ts'
import { moveChanges } from '../../../../parts/forms/stored/move-changes.ts'
import { sendUnlessChanged } from '../../../../parts/forms/stored/stored-form.ts'
import type { ValueChoice } from '../document/proposal-panel.tsx'
import { findFieldProblems } from './evaluation.ts'
import { type FieldForm, toFieldBody, toProposedForm } from './field-form.ts'
import {
  EMPTY_SOURCE,
  findSourceFormProblems,
  listRemovedChildren,
  type SourceForm,
  type SourceRecord,
  type SourceUpdateBody,
  toSourceBody,
  toSourceForm,
  toSourceUpdate,
} from './source-form.ts'

/** A form of a data source while a person edits it. */
type SourceEditor = {
  /** what is stored; null for a new source */
  base: SourceRecord | null
  form: SourceForm
  change(part: Partial<SourceForm>): void
  /** the value of the document whose rule is proposed */
  chosen: ValueChoice | null
  setChosen(chosen: ValueChoice | null): void
  /** the rule of `chosen`, which is saved with the others because its monitors are shown */
  proposed: FieldForm | null
  /** the form with the proposed rule: what is saved */
  wanted: SourceForm
  attempt: FormAttempt
  /** what the server would refuse about the fields */
  problems: FieldProblem[]
  update: SourceUpdateBody | null
  hasChanges: boolean
  isSaved: boolean
  /** another person changed the source since the form was opened, and something was changed here */
  isForeign: boolean
  /** the names of the monitors that saving archives, and their number as it is typed */
  removed: string[]
  typed: string
  setTyped(typed: string): void
  /** whether saving is possible */
  canSave: boolean
  save(): Promise<void>
  /** forgets the changes and shows what is stored */
  showStored(): void
  /** puts the own changes on what is stored now */
  keepChanges(): void
}

/** `source`: what is stored now; null for a new source. A form without changes follows it at once, before a person types. */
export function useSourceEditing(source: SourceRecord | null): SourceEditor {
  const { execute, navigate, refresh } = useFrame()
  const [base, setBase] = useState(source)
  const [form, setForm] = useState<SourceForm>(() => (source ? toSourceForm(source) : EMPTY_SOURCE))
  const [chosen, setChosen] = useState<ValueChoice | null>(null)
  const [typed, setTyped] = useState('')
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const { proposed, wanted } = useMemo(() => addProposal(form, chosen), [form, chosen])
  const problems = useMemo(() => findFieldProblems(wanted.fields), [wanted])
  const update = base && toSourceUpdate(base, wanted)
  const removed = base ? listRemovedChildren(base, wanted).map(({ name }) => name) : []
  const isNewer = source !== null && base !== null && source.updated_at > base.updated_at && !attempt.isBusy
  const isStale = isNewer && toSourceUpdate(source, toSourceForm(base)) !== null
  const hasChanges = base ? update !== null : JSON.stringify(wanted) !== JSON.stringify(EMPTY_SOURCE)
  const change = (part: Partial<SourceForm>) => {
    setForm(before => ({ ...before, ...part }))
    setSaved(false)
    if (attempt.error) attempt.setError(null)
  }
  const begin = (record: SourceRecord, next: SourceForm) => {
    setBase(record)
    setForm(next)
    setTyped('')
    setSaved(false)
    attempt.setError(null)
  }
  const showStored = () => {
    if (source) begin(source, toSourceForm(source))
    setChosen(null)
  }
  useLayoutEffect(() => {
    if (isStale && !hasChanges) showStored()
  }, [isStale, hasChanges, source])
  const keepChanges = () => {
    if (source && base) begin(source, moveToStored(toSourceForm(base), toSourceForm(source), form))
  }
  /** Shows what was saved. What was typed meanwhile stays. */
  const goOn = (record: SourceRecord) => {
    setBase(record)
    setForm(current => moveTyped({ form, proposed }, toSourceForm(record), current))
    setChosen(now => (now === chosen ? null : now))
    setTyped('')
  }
  const create = async () => {
    const created = await attempt.run(() => execute('createDataSource', { body: toSourceBody(wanted) }))
    if (!created) return
    setSaved(true)
    navigate(`/sources/${created.data.id}`)
  }
  const save = async () => {
    const problem = toFormError([...findSourceFormProblems(wanted), ...problems])
    if (problem) return attempt.setError(problem)
    if (base === null) return await create()
    if (!update || !isCountConfirmed(removed.length, typed)) return
    const saved = await attempt.run(() => saveChanges(execute, base, update, refresh))
    if (saved === null) return
    goOn(saved.data)
    setSaved(true)
  }
  const canSave = hasChanges && !isStale && !attempt.isBusy && isCountConfirmed(removed.length, typed)
  return {
    ...{ base, form, change, chosen, setChosen, proposed, wanted, attempt, problems, update, hasChanges },
    ...{
      isSaved: isSaved && (base === null || !hasChanges),
      isForeign: isStale && hasChanges,
      removed,
      typed,
      setTyped,
      canSave,
      save,
      showStored,
      keepChanges,
    },
  }
}

function addProposal(form: SourceForm, chosen: ValueChoice | null): Pick<SourceEditor, 'proposed' | 'wanted'> {
  if (!chosen || !('candidates' in chosen)) return { proposed: null, wanted: form }
  const proposed = toProposedForm(chosen.candidates[chosen.at]!.field, nextPlace(form))
  return { proposed, wanted: { ...form, fields: [...form.fields, proposed] } }
}

/**
 * What was saved, with what was typed since it was sent. `sent`: the form, and the proposed rule that was saved as the last one. Rules
 * keep their places; those that are stored now have their ids.
 */
export function moveTyped(
  sent: { form: SourceForm; proposed: FieldForm | null },
  saved: SourceForm,
  current: SourceForm,
): SourceForm {
  const before = sent.form.fields
  const moved = moveChanges(sent.form, saved, current)
  const isTyped = JSON.stringify(current.fields) !== JSON.stringify(before)
  const last = sent.proposed ? saved.fields.at(-1) : undefined
  if (!isTyped || saved.fields.length !== before.length + (last ? 1 : 0)) return { ...moved, fields: saved.fields }
  const fields = current.fields.map(field => {
    const at = before.findIndex(({ place }) => place === field.place)
    return at < 0 ? field : { ...moveChanges(before[at]!, saved.fields[at]!, field), place: field.place }
  })
  return { ...moved, fields: last ? [...fields, { ...last, place: nextPlace(current) }] : fields }
}

/**
 * The form on what is stored now: own changes stay, everything else is that of the other person. Rules are compared one by one, so
 * that saving removes no rule that the other person added. A changed rule that the other person removed is a new one.
 */
export function moveToStored(before: SourceForm, theirs: SourceForm, mine: SourceForm): SourceForm {
  return { ...moveChanges(before, theirs, mine), fields: moveRules(before.fields, theirs.fields, mine.fields) }
}

const isSameRules = (a: readonly FieldForm[], b: readonly FieldForm[]) =>
  JSON.stringify(a.map(toFieldBody)) === JSON.stringify(b.map(toFieldBody))

function moveRules(before: FieldForm[], theirs: FieldForm[], mine: FieldForm[]): FieldForm[] {
  if (isSameRules(before, mine)) return theirs
  const old = new Map(before.map(field => [field.id, field]))
  const stored = new Map(theirs.map(field => [field.id, field]))
  const kept = mine.flatMap(field => {
    const was = old.get(field.id)
    const now = stored.get(field.id)
    if (was && now) return [{ ...moveChanges(was, now, field), place: field.place }]
    if (was) return isSameRules([was], [field]) ? [] : [{ ...field, id: null }]
    return [field]
  })
  const last = Math.max(0, ...mine.map(({ place }) => place))
  const added = theirs.filter(({ id }) => !old.has(id)).map((field, i) => ({ ...field, place: last + 1 + i }))
  return [...kept, ...added]
}

export const nextPlace = ({ fields }: SourceForm): number => Math.max(0, ...fields.map(({ place }) => place)) + 1

/** Sends the changes unless another person changed the source. */
const saveChanges = (
  execute: Execute,
  base: SourceRecord,
  body: SourceUpdateBody,
  refresh: () => Promise<void>,
): Promise<Outcome<{ data: SourceRecord }>> =>
  sendUnlessChanged({
    isOther: stored => toSourceUpdate(stored, toSourceForm(base)) !== null,
    read: () => execute('readDataSource', { path: { id: base.id } }),
    send: headers => sendUpdate(execute, base.id, { body, headers }),
    refresh,
  })

/** The source after its update, whose answer contains its id only. */
async function sendUpdate(
  execute: Execute,
  id: string,
  update: Omit<OperationArguments<'updateDataSource'>, 'path'>,
): Promise<Outcome<{ data: SourceRecord }>> {
  const path = { id }
  const updated = await execute('updateDataSource', { path, ...update })
  return 'error' in updated ? updated : await execute('readDataSource', { path })
}
