import { useEffect, useRef } from 'preact/hooks'

/**
 * What a `<details>` needs whose content is only rendered while it is open. It may have been opened before the scripts were
 * there, and then no event says so. `setOpen`: notes whether it is open.
 */
export function useOpenDetails(setOpen: (isOpen: boolean) => void) {
  const ref = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (ref.current?.open) setOpen(true)
  }, [])
  return { ref, onToggle: (event: { currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open) }
}
