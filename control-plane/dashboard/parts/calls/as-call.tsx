import { useState } from 'preact/hooks'
import { toCurl } from '../../core/api-call/curl.ts'
import type { DataQuery } from '../../core/operations.ts'
import type { Queries } from '../../core/screen.ts'
import { useLazyPart } from '../layout/lazy-part.tsx'
import { useOpenDetails } from '../layout/open-details.ts'

const loadTexts = async () => (await import('./call-texts.tsx')).CallTexts

/** The part that shows calls as texts; null until its code is there. */
export const useCallTexts = (isWanted = true) => useLazyPart(loadTexts, isWanted)

/**
 * What a form or its buttons send, as calls of the API: for the shell, in TypeScript, and as an entry of a project file.
 * `name`: of the thing, for screen readers, where rows of a list have only the sign.
 */
export function AsCall({ name, ...shown }: ({ call: DataQuery } | { calls: Queries }) & { name?: string }) {
  const calls = 'call' in shown ? { result: shown.call } : shown.calls
  const [isOpen, setOpen] = useState(false)
  const details = useOpenDetails(setOpen)
  const Texts = useCallTexts(isOpen)
  const list = Object.values(calls)
  return (
    <details class={name === undefined ? 'group' : 'group row-call'} {...details}>
      <summary>
        <span class={name === undefined ? 'group-title' : 'hidden'}>
          The same as {list.length === 1 ? 'an API call' : 'API calls'}
        </span>{' '}
        <span class="soft small">&lt;/&gt;</span>
        {name !== undefined && (
          <span class="hidden">
            {' '}
            <bdi>{name}</bdi>
          </span>
        )}
      </summary>
      {Texts ? <Texts calls={calls} /> : <pre dir="ltr">{toCurl(list)}</pre>}
    </details>
  )
}

/** For browsers without scripts: why the form does nothing, and what to do instead. */
export const NeedsScript = ({ what, call }: { what: string; call: DataQuery }) => (
  <div class="needs-script">
    <p class="missing">{what} in this page needs scripts, which this browser does not run. The API does the same:</p>
    <pre dir="ltr">{toCurl([call])}</pre>
  </div>
)
