import { useFrame } from '../../../core/frame-context.ts'

/**
 * An embed as it looks on another site, made by the code that runs there. It is loaded from this installation, because the policy
 * of this page allows no other frames.
 */
export function LiveEmbed({ title, src, isPublished }: { title: string; src: string; isPublished: boolean }) {
  const { isInteractive } = useFrame()
  if (!isPublished) return <p class="soft small">How it looks is shown here when the page is published.</p>
  return (
    <div class="live-embed">
      {/* a frame of its own for each address, so that choices do not become entries of the history */}
      {isInteractive && <iframe key={src} title={title} src={src} />}
    </div>
  )
}
