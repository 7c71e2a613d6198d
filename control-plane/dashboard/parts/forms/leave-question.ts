import { useLayoutEffect } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'

/** Asks before a form with changes is left. */
export function useLeaveQuestion(hasChanges: boolean): void {
  const { holdPage } = useFrame()
  // not after the next frame: a page that shows that all is saved can be left at once
  useLayoutEffect(() => (hasChanges ? holdPage() : undefined), [hasChanges])
}
