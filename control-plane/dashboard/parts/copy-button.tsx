import { useState } from 'preact/hooks'
import { useFrame } from '../core/frame-context.ts'
import { useLeaveQuestion } from './forms/leave-question.ts'

/** Copies a text. `what`: the text, for screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const { isInteractive } = useFrame()
  const [state, setState] = useState<'new' | 'copied' | 'failed'>('new')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // browsers refuse without a secure connection or without permission
      setState('failed')
    }
  }
  return (
    <>
      <button type="button" disabled={!isInteractive} onClick={copy}>
        Copy
        <span class="hidden">
          {' '}
          <bdi>{what}</bdi>
        </span>
      </button>
      <span class="small soft" role="status">
        {state === 'copied' && 'Copied.'}
        {state === 'failed' && 'The browser does not allow copying. Select the text and copy it.'}
      </span>
    </>
  )
}

/**
 * A secret that is shown once, with a button that copies it. While it is shown, the page asks before it is left. `onCopied`: removes
 * it; without, what is around it has a button for that.
 */
export function Secret({ label, value, onCopied }: { label: string; value: string; onCopied?(): void }) {
  useLeaveQuestion(true)
  return (
    <div class="banner secret">
      <p>{label}</p>
      <p class="secret-value">
        <code>{value}</code>
        <CopyButton text={value} what="the secret" />
        {onCopied && (
          <button type="button" onClick={onCopied}>
            I have copied it
          </button>
        )}
      </p>
    </div>
  )
}
