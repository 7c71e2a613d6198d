import { useEffect } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'

/** Asks before a form with changes is left. */
export function useLeaveQuestion(hasChanges: boolean): void {
  const { holdPage } = useFrame()
  useEffect(() => (hasChanges ? holdPage() : undefined), [hasChanges])
}
