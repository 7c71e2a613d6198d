import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import type { RehearsalSection, RehearsalSettings } from './rehearsal-section.tsx'

/** What changed settings would have done. Its code is loaded when settings differ from the stored ones first. */
export function RehearsalPart({
  monitorId,
  update,
}: Omit<RehearsalSettings, 'update'> & { update: RehearsalSettings['update'] | null }) {
  const { isInteractive } = useFrame()
  const [loaded, setLoaded] = useState<{ Part: typeof RehearsalSection } | null>(null)
  const isWanted = isInteractive && update !== null
  useEffect(() => {
    if (!isWanted || loaded) return
    // a page that has lost its server stays as it is
    import('./rehearsal-section.tsx').then(
      ({ RehearsalSection: Part }) => setLoaded({ Part }),
      () => {},
    )
  }, [isWanted, loaded])
  return isWanted && loaded ? <loaded.Part monitorId={monitorId} update={update} /> : null
}
