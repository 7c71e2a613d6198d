import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationError } from '../../../core/operations.ts'
import type { DomainAnalysisRecord } from './domain-analysis.tsx'

const INTERVAL_MS = 15_000

/** Whether there is nothing left to wait for. */
const isComplete = (analysis: DomainAnalysisRecord | null) =>
  analysis?.verified === true && analysis.ssl.status === 'active'

/** Whether trying again cannot help: the page or the domain is gone, or the plan has no custom domains. */
const isFinal = (error: OperationError | null) => error?.status === 403 || error?.status === 404

/** Verifies the domain of a page when the page is opened, and every 15 seconds until the certificate is there. */
export function useVerification(pageId: string) {
  const { execute, nowMs } = useFrame()
  const [analysis, setAnalysis] = useState<DomainAnalysisRecord | null>(null)
  const [error, setError] = useState<OperationError | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [askedMs, setAsked] = useState(0)
  const verify = async () => {
    setBusy(true)
    setAsked(nowMs)
    const outcome = await execute('verifyStatusPageCustomDomain', { path: { id: pageId } })
    setBusy(false)
    if ('error' in outcome) return setError(outcome.error)
    setError(null)
    setAnalysis(outcome.data.data)
  }
  const isWatching = !isComplete(analysis) && !isFinal(error)
  useEffect(() => {
    if (isWatching && !isBusy && nowMs - askedMs >= INTERVAL_MS) void verify()
  }, [nowMs])
  return { analysis, error, isBusy, isWatching, verify }
}
