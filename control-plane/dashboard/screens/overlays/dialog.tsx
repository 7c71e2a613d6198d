import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A dialog over the page. Escape closes it; the focus returns to where it was. `id`: of its title. */
export function Dialog({
  id,
  title,
  isTitleHidden = false,
  onClose,
  children,
}: {
  id: string
  title: string
  isTitleHidden?: boolean
  onClose(): void
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    const focused = dialog?.ownerDocument.activeElement as HTMLElement | null | undefined
    dialog?.showModal()
    return () => {
      dialog?.close()
      focused?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={id}
      aria-labelledby={`${id}-title`}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={`${id}-title`} class={isTitleHidden ? 'hidden' : undefined}>
        {title}
      </h2>
      {children}
    </dialog>
  )
}
