import { useState } from 'preact/hooks'
import { toCurl } from '../../core/api-call/curl.ts'
import type { DataQuery } from '../../core/operations.ts'
import { useLazyPart } from '../layout/lazy-part.tsx'
import { useOpenDetails } from '../layout/open-details.ts'

const loadTexts = async () => (await import('./call-texts.tsx')).CallTexts

/** The part that shows calls as texts; null until its code is there. */
export const useCallTexts = (isWanted = true) => useLazyPart(loadTexts, isWanted)

/** What a form sends, as a call of the API: for the shell, in TypeScript, and as an entry of a project file. */
export function AsCall({ call }: { call: DataQuery }) {
  const [isOpen, setOpen] = useState(false)
  const details = useOpenDetails(setOpen)
  const Texts = useCallTexts(isOpen)
  return (
    <details class="group" {...details}>
      <summary>
        <span class="group-title">The same as an API call</span> <span class="soft small">&lt;/&gt;</span>
      </summary>
      {Texts ? <Texts calls={{ result: call }} /> : <pre dir="ltr">{toCurl([call])}</pre>}
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
