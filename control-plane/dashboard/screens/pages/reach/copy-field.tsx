import { useState } from 'preact/hooks'

/** A text with a button that copies it. `label`: what it is, for screen readers. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const [state, setState] = useState<'shown' | 'copied' | 'failed'>('shown')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      setState('copied')
    } catch {
      // browsers refuse without a secure connection or without permission
      setState('failed')
    }
  }
  return (
    <span class="copy-field">
      <code dir="ltr">{value}</code>
      <button type="button" onClick={copy}>
        {state === 'copied' ? 'Copied' : 'Copy'}
        <span class="hidden"> {label}</span>
      </button>
      <span class="small soft" role="status">
        {state === 'failed' && 'The browser does not allow copying. Select the text and copy it.'}
      </span>
    </span>
  )
}
