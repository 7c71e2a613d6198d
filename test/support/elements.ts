import type { ComponentChildren, VNode } from 'preact'

/** An element of a part of the page, such as a field or a button, with the attributes that the part sets. */
type FoundElement = VNode<Record<string, unknown>>

/** The elements of a part that was carried out, in their order. Parts inside of it are elements that are not carried out. */
export function listElements(children: unknown): FoundElement[] {
  if (Array.isArray(children)) return children.flatMap(listElements)
  if (typeof children !== 'object' || children === null || !('props' in children)) return []
  const element = children as FoundElement
  return [element, ...listElements(element.props.children)]
}

/** The first element of a type that has these attributes. Throws if there is none. */
export function findElement(
  part: ComponentChildren,
  type: unknown,
  attributes: Record<string, unknown> = {},
): FoundElement {
  const found = listElements(part).find(
    one => one.type === type && Object.entries(attributes).every(([name, value]) => one.props[name] === value),
  )
  if (!found) throw new Error(`there is no such element: ${JSON.stringify({ type, ...attributes })}`)
  return found
}

/** Calls a handler of an element, such as `onSubmit`, with an event of a browser. Returns what the handler returns. */
export const fire = ({ props }: FoundElement, handler: string, event: object = {}): unknown =>
  (props[handler] as (event: object) => unknown)({ preventDefault: () => {}, ...event })
