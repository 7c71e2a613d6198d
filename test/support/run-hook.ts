import { h, options, render } from 'preact'
import { type FrameContext, FrameProvider, STATIC_TOOLS } from '../../control-plane/dashboard/core/frame-context.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** A hook that is carried out in a part of the page that shows nothing. */
type RunningHook<Props, Value> = {
  /** what the hook returned last */
  readonly current: Value
  /** carries it out with other properties */
  update(props: Props): void
  waitUntil(condition: (value: Value) => boolean, label: string): Promise<unknown>
}

/**
 * Carries out a hook as in a browser, until the test ends. `frame`: what the hook uses of the frame, in addition to `STATIC_TOOLS`.
 * Effects and their cleanup run at once and not after the next frame: on a busy machine, a timer could otherwise end before its cleanup.
 */
export function runHook<Props extends object, Value>(
  t: Teardown,
  { hook, props, frame = {} }: { hook(props: Props): Value; props: Props; frame?: Partial<FrameContext> },
): RunningHook<Props, Value> {
  let value: Value
  const Part = (shown: Props) => {
    value = hook(shown)
    return null
  }
  const { requestAnimationFrame } = options
  options.requestAnimationFrame = queueMicrotask
  // nothing is shown, so no part of a document is needed
  const root = {} as never
  const context = { ...STATIC_TOOLS, ...frame } as FrameContext
  const update = (shown: Props) => render(h(FrameProvider, { value: context }, h(Part as never, shown)), root)
  update(props)
  t.teardown(() => {
    render(null, root)
    options.requestAnimationFrame = requestAnimationFrame
  })
  return {
    get current() {
      return value
    },
    update,
    waitUntil: (condition, label) => waitFor(async () => condition(value), { label }),
  }
}
