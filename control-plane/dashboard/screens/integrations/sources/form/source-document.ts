import { useEffect, useMemo, useState } from 'preact/hooks'
import { useFollowing } from '../../../../browser/following.ts'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import type { OperationError } from '../../../../core/operations.ts'
import { type FormAttempt, useAttempt } from '../../../../parts/forms/attempt.ts'
import { evaluateFields, type Preview, type Verdicts } from './evaluation.ts'
import type { FieldForm } from './field-form.ts'
import { describeRequest, type SourceForm, toPreviewBody } from './source-form.ts'

/** The document that the form fetched last. `isOld`: the request in the form is another one now. `count`: of fetches. */
export type SourceDocument = {
  preview: Preview | null
  isOld: boolean
  count: number
  attempt: FormAttempt
  load(): void
}

/** Fetches the document of a form, once by itself when it is stored. `id`: of the stored source. */
export function useSourceDocument(form: SourceForm, id: string | null): SourceDocument {
  const { me, execute } = useFrame()
  const attempt = useAttempt()
  const [fetched, setFetched] = useState<{ preview: Preview; request: string; count: number } | null>(null)
  const request = describeRequest(form)
  const load = async () => {
    const outcome = await attempt.run(() => execute('previewDataSource', { body: toPreviewBody(form, id) }))
    if (outcome) setFetched(last => ({ preview: outcome.data, request, count: (last?.count ?? 0) + 1 }))
  }
  useEffect(() => {
    if (id !== null && canWrite(me)) void load()
  }, [id])
  return {
    preview: fetched?.preview ?? null,
    isOld: fetched !== null && fetched.request !== request,
    count: fetched?.count ?? 0,
    attempt,
    load,
  }
}

/** The verdicts of the fields on the document. `isLate`: they are those of earlier fields, and the server evaluates the current ones. */
type CurrentVerdicts = { verdicts: Verdicts | null; isLate: boolean; error: OperationError | null }

/**
 * Evaluates fields at once in the browser, and by the server after a moment where only the server can (evaluateFields).
 */
export function useVerdicts(
  { preview, count }: SourceDocument,
  form: SourceForm,
  fields: readonly FieldForm[],
  id: string | null,
): CurrentVerdicts {
  const { execute, nowMs } = useFrame()
  const [remote, setRemote] = useState<{ key: string; verdicts: Verdicts | null; error: OperationError | null } | null>(
    null,
  )
  const body = toPreviewBody(form, id, [...fields])
  const key = JSON.stringify([count, body])
  // the time of the rules advances with the clock of the page
  const local = useMemo(
    () => (preview?.failure === null ? evaluateFields(preview, fields, nowMs) : null),
    [preview, key, nowMs],
  )
  const isRemote = preview?.failure === null && local === null && fields.length > 0
  useFollowing(isRemote && remote?.key !== key ? key : null, async () => {
    const outcome = await execute('previewDataSource', { body })
    const isDone = 'data' in outcome && outcome.data.data.failure === null
    setRemote({
      key,
      verdicts: isDone ? outcome.data.data : null,
      error: 'error' in outcome ? outcome.error : null,
    })
  })
  if (!isRemote) return { verdicts: local, isLate: false, error: null }
  return { verdicts: remote?.verdicts ?? null, isLate: remote?.key !== key, error: remote?.error ?? null }
}
