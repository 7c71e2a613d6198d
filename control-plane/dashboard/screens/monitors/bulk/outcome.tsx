import { useLayoutEffect, useRef } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { type BulkResult, summarizeResult } from './change-words.ts'
import { ResultList } from './result-list.tsx'

/** What a change did, with the result of each monitor, and for a while the button that restores them. */
export function Outcome({
  result,
  channels,
  canUndo,
  onUndone,
  onClose,
}: {
  result: BulkResult
  channels: ReadonlyMap<string, string>
  canUndo: boolean
  onUndone(result: BulkResult): void
  onClose(): void
}) {
  const { execute } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const section = useRef<HTMLElement>(null)
  // the buttons that had the focus are gone; later it could already be at another one
  useLayoutEffect(() => section.current?.focus(), [])
  const undo = async () => {
    const answer = result.undo && (await run(() => execute('changeMonitors', { body: result.undo! })))
    if (answer) onUndone(answer.data)
  }
  return (
    <section ref={section} class="outcome" tabIndex={-1} aria-label="Result of the change">
      <p role="status">{summarizeResult(result, true)}.</p>
      <div class="actions">
        {result.undo && canUndo && (
          <button type="button" class="main" disabled={isBusy} onClick={undo}>
            Undo
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      <details open={result.refused > 0}>
        <summary>Result for each monitor</summary>
        <ResultList result={result} channels={channels} />
      </details>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
    </section>
  )
}
