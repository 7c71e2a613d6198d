import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'

/**
 * A part whose code browsers load when it is first wanted. Returns null until then, and on the server. A page that has lost
 * its server stays as it is. `load` must not change.
 */
export function useLazyPart<Props>(
  load: () => Promise<ComponentType<Props>>,
  isWanted = true,
): ComponentType<Props> | null {
  const { isInteractive } = useFrame()
  const [loaded, setLoaded] = useState<{ Part: ComponentType<Props> } | null>(null)
  useEffect(() => {
    if (!isInteractive || !isWanted || loaded) return
    load().then(
      Part => setLoaded({ Part }),
      () => {},
    )
  }, [isInteractive, isWanted, loaded])
  return loaded && isWanted ? loaded.Part : null
}
