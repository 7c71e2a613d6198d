import { useEffect, useMemo } from 'preact/hooks'
import type { KeyActions, KeySettings, OverlayKind } from '../core/frame-context.ts'

/** Controls in which a key writes or selects something. */
const FIELDS = 'input:not([type="checkbox"]), select, textarea, [contenteditable]'

/** The pages that open by `g` and a second key. Each is in the main navigation. */
const GO_PATHS: Readonly<Record<string, string>> = { o: '/', m: '/monitors', i: '/incidents', p: '/pages' }
/** How long the second key may take. */
const GO_MS = 1_500

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
  useEffect(() => (areOn ? bindPageKeys() : undefined), [areOn])
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
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!action || !isForPage(event)) return
    event.preventDefault()
    // a key that is held moves on; it does nothing else twice
    if (!event.repeat || MOVES.includes(event.key)) action()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

const MOVES = ['j', 'k']

/** The keys that find what they do in the page: `g` with a second key, and those of buttons and links. */
function bindPageKeys(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const endWait = (): boolean => {
    const wasWaiting = timer !== undefined
    clearTimeout(timer)
    timer = undefined
    return wasWaiting
  }
  // in the capture phase, so that the second key does nothing else
  const onGoKey = (event: KeyboardEvent) => {
    if (event.repeat) return
    const isSecond = endWait()
    if (!isForPage(event)) return
    if (isSecond && Object.hasOwn(GO_PATHS, event.key)) {
      event.preventDefault()
      openPage(GO_PATHS[event.key]!)
    } else if (event.key === 'g') timer = setTimeout(endWait, GO_MS)
  }
  document.addEventListener('keydown', onGoKey, true)
  document.addEventListener('keydown', pressElement)
  return () => {
    endWait()
    document.removeEventListener('keydown', onGoKey, true)
    document.removeEventListener('keydown', pressElement)
  }
}

/** By its link, which asks before a form with changes is left. On a phone the link may be hidden. */
const openPage = (path: string) =>
  document.querySelector<HTMLElement>(`nav[aria-label="Main"] a[href="${path}"]`)?.click()

/** Clicks the button or link that names the key in `aria-keyshortcuts`. */
function pressElement(event: KeyboardEvent): void {
  if (event.repeat || !isForPage(event)) return
  const named = [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')]
  const element = named.find(one => one.getAttribute('aria-keyshortcuts') === event.key && isUsable(one))
  if (!element) return
  event.preventDefault()
  element.click()
}

const isUsable = (element: HTMLElement) => !element.matches(':disabled') && element.getClientRects().length > 0

/** Whether a key is neither for the browser nor for a field or a dialog, and nothing has used it yet. */
function isForPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return false
  return !(event.target instanceof Element && event.target.closest(FIELDS)) && !hasDialog()
}

const hasDialog = () => document.querySelector('dialog[open]') !== null
