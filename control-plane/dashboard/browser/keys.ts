import { useEffect, useMemo } from 'preact/hooks'
import type { KeyActions, KeySettings, OverlayKind } from '../core/frame-context.ts'

/** Controls in which a key writes or selects something. */
const FIELDS = 'input:not([type="checkbox"]), select, textarea, [contenteditable]'

/**
 * The keys of every page, and whether those without Ctrl or Cmd do something. `store`: changes the preference of the person.
 * Ctrl+K and Cmd+K always open the palette.
 */
export function useKeySettings(
  areOn: boolean,
  store: (areOn: boolean) => void,
  openOverlay: (kind: OverlayKind) => void,
): KeySettings {
  const keys = useMemo<KeySettings>(
    () => ({
      areOn,
      setOn: store,
      bind: actions => (areOn ? bindKeys(actions) : () => {}),
    }),
    [areOn],
  )
  useEffect(() => keys.bind({ '?': () => openOverlay('keys') }), [keys])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (!hasDialog()) openOverlay('palette')
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return keys
}

function bindKeys(actions: KeyActions): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return
    if (event.target instanceof Element && event.target.closest(FIELDS)) return
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!action || hasDialog()) return
    event.preventDefault()
    action()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

const hasDialog = () => document.querySelector('dialog[open]') !== null
