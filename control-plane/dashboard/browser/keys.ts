import { useEffect, useMemo, useState } from 'preact/hooks'
import type { KeyActions, KeySettings, OverlayKind } from '../core/frame-context.ts'

/** `off` in the storage of the browser: keys without Ctrl or Cmd do nothing. */
const STORED_NAME = 'picket-keys'

/** Controls in which a key writes or selects something. */
const FIELDS = 'input:not([type="checkbox"]), select, textarea, [contenteditable]'

/** The key settings of this browser, and the keys of every page. Ctrl+K and Cmd+K always open the palette. */
export function useKeySettings(isFirst: boolean, openOverlay: (kind: OverlayKind) => void): KeySettings {
  const [areOn, setState] = useState(true)
  useEffect(() => setState(readSetting()), [])
  const keys = useMemo<KeySettings>(
    () => ({
      areOn,
      setOn(next) {
        storeSetting(next)
        setState(next)
      },
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
  return isFirst ? { ...keys, areOn: true } : keys
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

/** A browser may refuse its storage; then keys are on, and a change lasts until the page is left. */
function readSetting(): boolean {
  try {
    return localStorage.getItem(STORED_NAME) !== 'off'
  } catch {
    return true
  }
}

function storeSetting(areOn: boolean): void {
  try {
    if (areOn) localStorage.removeItem(STORED_NAME)
    else localStorage.setItem(STORED_NAME, 'off')
  } catch {
    // the setting still applies to this page
  }
}
