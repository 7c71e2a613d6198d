import { type StateUpdater, useLayoutEffect, useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationError, Outcome } from '../../../core/operations.ts'
import { type FormAttempt, useAttempt } from '../attempt.ts'
import { useLeaveQuestion } from '../leave-question.ts'
import { moveChanges } from './move-changes.ts'

/** How a record becomes a form, and how the form is saved. */
type StoredFormOptions<Stored, Form, Body> = {
  toForm(record: Stored): Form
  /** what an update sends; null: nothing differs from the record */
  toBody(record: Stored, form: Form): Body | null
  read(): Promise<Outcome<{ data: Stored }>>
  /** `headers`: they make the update fail when the record is not as it was read */
  send(body: Body, headers: VersionHeaders): Promise<Outcome<{ data: Stored }>>
}

type VersionHeaders = { 'If-Match'?: string }

/** A form of a stored record while a person edits it. */
export type StoredForm<Stored, Form, Body> = {
  /** the record from which the form began */
  base: Stored
  form: Form
  /** a function gets the form as it is then */
  change(part: Partial<Form> | ((current: Form) => Partial<Form>)): void
  /** what saving sends: what differs from `base`, so fields of other people are not sent; null: nothing */
  body: Body | null
  attempt: FormAttempt
  canSave: boolean
  isSaved: boolean
  /** another person changed the record since the form was opened, and something was typed here */
  isForeign: boolean
  /** resolves to the saved record; to null when nothing was saved. What is typed meanwhile stays, and is not saved. */
  save(): Promise<Stored | null>
  /** forgets the changes and shows what is stored */
  showStored(): void
  /** puts the own changes on what is stored now */
  keepChanges(): void
}

export const CONFLICT: OperationError = {
  ...{ status: 409, code: 'conflict' },
  message: 'another person changed this since the form was opened; nothing is saved',
}

/**
 * Edits a record that other people may change meanwhile. A form in which nothing was typed follows the record. Otherwise nothing
 * is sent before the person has chosen. `stored`: the record as it was read last.
 */
export function useStoredForm<Stored, Form extends object, Body>(
  stored: Stored,
  { toForm, toBody, read, send }: StoredFormOptions<Stored, Form, Body>,
): StoredForm<Stored, Form, Body> {
  const { refresh } = useFrame()
  // `seen`: what was read last when the form began. It can be older than `base`, which may be the answer of an update.
  const [{ base, seen }, setStart] = useState({ base: stored, seen: stored })
  const [form, setForm] = useState(() => toForm(stored))
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const body = toBody(base, form)
  useLeaveQuestion(body !== null)
  const isOther = (record: Stored) => toBody(record, toForm(base)) !== null
  const isChanged = stored !== seen && !attempt.isBusy && isOther(stored)
  const begin = (record: Stored, next: StateUpdater<Form>) => {
    setStart({ base: record, seen: stored })
    setForm(next)
    setSaved(false)
    attempt.setError(null)
  }
  const showStored = () => begin(stored, toForm(stored))
  // at once: a frame later, it would replace what a person types already
  useLayoutEffect(() => {
    if (isChanged && body === null) showStored()
  }, [isChanged, body === null, stored])
  const save = async () => {
    if (body === null) return null
    const outcome = await attempt.run(() =>
      sendUnlessChanged({ isOther, read, send: headers => send(body, headers), refresh }),
    )
    if (!outcome) return null
    begin(outcome.data, current => moveChanges(form, toForm(outcome.data), current))
    setSaved(true)
    return outcome.data
  }
  return {
    ...{ base, form, body, attempt, save, showStored },
    change: part => {
      setSaved(false)
      setForm(current => ({ ...current, ...(typeof part === 'function' ? part(current) : part) }))
    },
    isSaved: isSaved && body === null,
    isForeign: isChanged && body !== null,
    canSave: body !== null && !isChanged && !attempt.isBusy,
    keepChanges: () => begin(stored, moveChanges(toForm(base), toForm(stored), form)),
  }
}

/** Of this many changes of other people in the moment of saving, none may be of the fields of the form. */
export const MAX_ATTEMPTS = 3

/**
 * Reads a record again, and sends an update of the version that was read. If another person changed the record, nothing is sent and
 * the page shows it. Changes that the form does not show do not matter: the update is sent again with the newer version.
 */
export async function sendUnlessChanged<Stored>({
  isOther,
  read,
  send,
  refresh,
}: {
  isOther(current: Stored): boolean
  read(): Promise<Outcome<{ data: Stored }>>
  send(headers: VersionHeaders): Promise<Outcome<{ data: Stored }>>
  refresh(): Promise<void>
}): Promise<Outcome<{ data: Stored }>> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const current = await read()
    if ('error' in current) return current
    if (isOther(current.data.data)) break
    const outcome = await send(toVersionHeaders(current))
    if (!isVersionError(outcome)) return outcome
  }
  await refresh()
  return { error: CONFLICT }
}

/**
 * The headers with which a change is made only of the version that was read. Records without versions have none. A proxy that
 * compresses answers makes the tag a weak one, `W/"…"`; it still names the same settings.
 */
export const toVersionHeaders = ({ etag }: { etag?: string }): VersionHeaders =>
  etag === undefined ? {} : { 'If-Match': etag.replace(/^W\//, '') }

/** True when nothing was changed, because another change came before it. */
export const isVersionError = (outcome: Outcome<unknown>): boolean => 'error' in outcome && outcome.error.status === 412
