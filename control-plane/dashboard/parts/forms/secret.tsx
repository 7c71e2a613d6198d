import { useState } from 'preact/hooks'

/** A secret that is shown once, with a button that copies it. */
export function Secret({ label, value }: { label: string; value: string }) {
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
    <div class="banner secret">
      <p>{label}</p>
      <p class="secret-value">
        <code>{value}</code>
        <button type="button" onClick={copy}>
          Copy<span class="hidden"> the secret</span>
        </button>
      </p>
      <p class="small soft" role="status">
        {state === 'copied' && 'Copied.'}
        {state === 'failed' && 'The browser does not allow copying. Select the text and copy it.'}
      </p>
    </div>
  )
}
