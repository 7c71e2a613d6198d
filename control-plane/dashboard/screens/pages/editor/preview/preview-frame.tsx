import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PageView } from '../../../../../pages/core/types.ts'
import { useFrame } from '../../../../core/frame-context.ts'
import { PREVIEW_FRAME_PATH } from '../../../../core/navigation.ts'
import type { ColorScheme } from '../../../../parts/isolated.tsx'
import { type PreviewDocument, preparePreview } from './preview-document.tsx'

export type PreviewWidth = 'desktop' | 'phone'

/** The width of the page in the frame, in pixels. A wide page is made smaller until it fits. */
const WIDTHS: Record<PreviewWidth, number> = { desktop: 1_200, phone: 390 }

/** The page as visitors would see it. Nothing runs in the frame, and its links open nothing. */
export function PreviewFrame({ view, scheme, width }: { view: PageView; scheme: ColorScheme; width: PreviewWidth }) {
  const { isInteractive } = useFrame()
  const box = useRef<HTMLDivElement>(null)
  const element = useRef<HTMLIFrameElement>(null)
  const [preview, setPreview] = useState<PreviewDocument | null>(null)
  useLayoutEffect(() => preview?.show(view, scheme), [preview, view, scheme])
  useEffect(() => (isInteractive ? followSize(box.current!, WIDTHS[width]) : undefined), [isInteractive, width])
  const prepare = () => {
    const document = element.current?.contentDocument
    // a link of the preview cannot be opened; should the frame leave its document, it comes back
    if (document?.location.pathname === PREVIEW_FRAME_PATH) setPreview(preparePreview(document))
    else if (element.current) element.current.src = PREVIEW_FRAME_PATH
  }
  return (
    <div class={`preview-box ${width}`} ref={box}>
      {isInteractive && (
        <iframe
          ref={element}
          title="Preview of the page"
          src={PREVIEW_FRAME_PATH}
          sandbox="allow-same-origin"
          onLoad={prepare}
        />
      )}
    </div>
  )
}

/** Sets the size and scale of the frame (`--frame-…`) whenever its box changes. Returns the function that ends it. */
function followSize(box: HTMLElement, width: number): () => void {
  const observer = new ResizeObserver(([entry]) => {
    const { width: inner, height } = entry!.contentRect
    const scale = Math.min(1, inner / width)
    box.style.setProperty('--frame-scale', String(scale))
    box.style.setProperty('--frame-width', `${width}px`)
    box.style.setProperty('--frame-height', `${height / scale}px`)
  })
  observer.observe(box)
  return () => observer.disconnect()
}
