import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'

/** A command with a button that copies it. */
export function CopiedCommand({ label, command }: { label: string; command: string }) {
  const { isInteractive } = useFrame()
  const [state, setState] = useState('')
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => setState('Copied.'),
      // browsers refuse without a secure connection or without permission
      () => setState('The browser does not allow copying. Select the text and copy it.'),
    )
  return (
    <div>
      <p>{label}</p>
      <div class="secret-value">
        <code class="command">{command}</code>
        <button type="button" disabled={!isInteractive} onClick={copy}>
          Copy<span class="hidden"> the command</span>
        </button>
      </div>
      <p class="soft small" role="status">
        {state}
      </p>
    </div>
  )
}
