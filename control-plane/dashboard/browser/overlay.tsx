import type { ComponentType, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { OverlayKind } from '../core/frame-context.ts'

type Overlay = ComponentType<{ onClose(): void }>

/** The dialogs of every page. Their code is loaded when one of them is opened first. */
export function useOverlay(): { open(kind: OverlayKind): void; element: VNode | null } {
  const [shown, show] = useState<{ Overlay: Overlay } | null>(null)
  const open = (kind: OverlayKind) => {
    // a page that has lost its server stays as it is
    load(kind).then(
      Overlay => show({ Overlay }),
      () => {},
    )
  }
  return { open, element: shown && <shown.Overlay onClose={() => show(null)} /> }
}

async function load(kind: OverlayKind): Promise<Overlay> {
  if (kind === 'palette') return (await import('../screens/overlays/palette.tsx')).Palette
  if (kind === 'calls') return (await import('../screens/overlays/page-calls.tsx')).PageCalls
  if (kind === 'display') return (await import('../screens/overlays/display.tsx')).Display
  return (await import('../screens/overlays/key-help.tsx')).KeyHelp
}
