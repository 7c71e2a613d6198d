import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageView } from '../../../../../pages/core/types.ts'
import { useRested } from '../../../../browser/following.ts'
import { useFrame } from '../../../../core/frame-context.ts'
import type { OperationError, OperationResponse } from '../../../../core/operations.ts'

/** What the server says about a page and its custom CSS. */
export type Judgement = {
  /** with all figures; null before the first answer */
  view: PageView | null
  /** the custom CSS that was accepted last */
  safeCss: string | null
  /** the refused lines of the last CSS that was judged */
  problems: OperationResponse<'previewStatusPage'>['data']['problems']
  /** whether the CSS that was typed is not judged yet */
  isJudging: boolean
  error: OperationError | null
}

/** How long after the last keystroke the server is asked. */
const REST_MS = 300

/**
 * Keeps the view of a page. Asks the server at once when `revision` changes, and 300 ms after the last change of the CSS. Answers to
 * earlier questions are left out.
 */
export function usePagePreview(id: string, css: string, revision: string): Judgement {
  const { execute, isInteractive } = useFrame()
  const [state, setState] = useState<Omit<Judgement, 'isJudging'>>({
    ...{ view: null, safeCss: null, problems: [], error: null },
  })
  const [judgedCss, setJudgedCss] = useState<string | null>(null)
  const questions = useRef({ count: 0 }).current
  const rested = useRested(css, REST_MS)
  useEffect(() => {
    if (!isInteractive) return
    const ask = async () => {
      const question = ++questions.count
      const body = { show_response_times: true, show_uptime_percentage: true, custom_css: rested || null }
      const outcome = await execute('previewStatusPage', { path: { id }, body })
      if (question !== questions.count) return
      if ('error' in outcome) return setState(current => ({ ...current, error: outcome.error }))
      const { view, safe_css: safeCss, problems } = outcome.data.data
      setJudgedCss(rested)
      setState(current => ({
        view: view as unknown as PageView,
        safeCss: problems.length > 0 ? current.safeCss : safeCss,
        problems,
        error: null,
      }))
    }
    void ask()
  }, [isInteractive, id, rested, revision])
  return { ...state, isJudging: judgedCss !== css }
}
