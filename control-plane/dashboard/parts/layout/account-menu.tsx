import { useEffect, useRef } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'

/** The menu of the person. It closes when something in it is chosen, by Escape, and by a click outside it. */
export function AccountMenu() {
  const { me, isInteractive, openOverlay } = useFrame()
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  useEffect(() => {
    const page = menu.current!.ownerDocument
    const closeOutside = ({ target }: Event) => {
      if (!menu.current?.contains(target as Node)) close()
    }
    page.addEventListener('pointerdown', closeOutside)
    return () => page.removeEventListener('pointerdown', closeOutside)
  }, [])
  const focusSummary = () => menu.current?.querySelector('summary')?.focus()
  const closeByKey = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !menu.current?.open) return
    close()
    focusSummary()
  }
  const openDisplay = () => {
    close()
    // where the focus is after the dialog
    focusSummary()
    openOverlay('display')
  }
  return (
    <details class="account" ref={menu} onKeyDown={closeByKey}>
      <summary>
        <span dir="auto">{me.organization.name}</span>
      </summary>
      <div>
        <p dir="auto">{me.user?.email}</p>
        <p class="soft">
          Role {me.role}, plan {me.organization.plan}
        </p>
        <a href="/settings/channels" onClick={close}>
          Alert channels
        </a>
        <a href="/settings" onClick={close}>
          Settings
        </a>
        <button type="button" class="plain" disabled={!isInteractive} onClick={openDisplay}>
          Display
        </button>
        <a href="/account">Account and sessions</a>
        <form method="post" action="/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </div>
    </details>
  )
}
